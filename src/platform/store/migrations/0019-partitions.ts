import type { Clock } from "../../../kit/clock.ts";
import type { Migration } from "kysely/migration";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";

/** Divides payments and the audit log by tenant, the audit log by month too, where the database can. */
export const partitions = ({ clock }: { clock: Clock }): Migration => ({
  async up(database) {
    const db = database as unknown as Db;
    await getDialect(db).partitions.divide(db, clock());
  },
});
