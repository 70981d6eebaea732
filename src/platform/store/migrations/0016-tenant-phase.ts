import type { Migration } from "kysely/migration";
import { getDialect } from "../engine/dialect.ts";
import { addColumn, type Types } from "./addition.ts";

/** Marks tenants that are being imported or deleted in many transactions; accounts and documents can be removed. */
export const tenantPhase = (types: Types): Migration => ({
  async up(db) {
    await addColumn(db, types, ["tenants", "phase", "text?"]);
    const { search } = getDialect(db);
    await search.addRemoval(db, { table: "accounts", key: "account_number" });
    await search.addRemoval(db, { table: "documents", key: "document_number" });
  },
});
