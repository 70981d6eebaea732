import type { Migration } from "kysely/migration";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { addColumn, createIndex, type Types } from "./addition.ts";

/** Adds the index by which closings of documents are found by the time of their recording, and the days of reasons. */
export const changes = (types: Types): Migration => ({
  async up(database) {
    const columns = ["tenant_id", "created_at", "document_number", "number"];
    await createIndex(database, ["document_closures", columns], false);
    await addColumn(database, types, ["reasons", "dispute_days", "integer?"]);
    const db = database as unknown as Db;
    await getDialect(db).describeLargeTables(db);
  },
});
