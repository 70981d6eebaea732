import type { Migration } from "kysely/migration";
import { addColumn, type Types } from "./addition.ts";

/** Adds what is unusual about an available file of a dispute. */
export const scanWarnings = (types: Types): Migration => ({
  async up(db) {
    await addColumn(db, types, ["dispute_attachments", "scan_warnings", "text?"]);
  },
});
