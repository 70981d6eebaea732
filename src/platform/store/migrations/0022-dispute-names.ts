import type { Migration } from "kysely/migration";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { createIndex } from "./addition.ts";

/** Adds the index by which disputes are found by a part of the name that was imported with them. */
export const disputeNames: Migration = {
  async up(database) {
    const columns = ["tenant_id", "account_name_folded"];
    await createIndex(database, ["disputes", columns, "account_name_folded"], false);
    const db = database as unknown as Db;
    await getDialect(db).describeLargeTables(db);
  },
};
