import type { Partitions } from "../engine/dialect.ts";

/** SQLite has no partitions. */
export const partitions: Partitions = {
  async divide() {},
  async prepareMonths() {},
};
