import type { Migration } from "kysely/migration";
import { addColumn, type Types } from "./addition.ts";

/** Adds the warnings of a scan to the files of disputes. */
export const scanWarnings = (types: Types): Migration => ({
  async up(db) {
    await addColumn(db, types, ["dispute_attachments", "scan_warnings", "text?"]);
  },
});
