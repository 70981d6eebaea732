import type { Migration } from "kysely/migration";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { addColumn, createIndex, type Index, type Types } from "./addition.ts";

const INDEXES: Index[] = [
  ["document_closures", ["tenant_id", "created_at", "document_number", "number"]],
  ["dispute_notes", ["tenant_id", "created_at", "id"]],
  ["dispute_attachments", ["tenant_id", "created_at", "id"]],
];

/** Adds the indexes by which closings, notes and files are found by the time of their recording, and the days of reasons. */
export const changes = (types: Types): Migration => ({
  async up(database) {
    for (const index of INDEXES) await createIndex(database, index, false);
    await addColumn(database, types, ["reasons", "dispute_days", "integer?"]);
    const db = database as unknown as Db;
    await getDialect(db).describeLargeTables(db);
  },
});
