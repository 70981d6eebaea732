import { createKeyedTable } from "./coded-table.ts";
import type { Db } from "../port.ts";
import { changeRows, countOf, ofTenant, rowsOfTenant } from "../engine/rows.ts";

export const { update: updateSchedule } = createKeyedTable("schedules");

/** Lists a tenant's schedules, oldest first, without deleted ones. */
export const listSchedules = (db: Db, tenantId: string) =>
  rowsOfTenant(db, "schedules", tenantId)
    .where("deleted_at", "is", null)
    .orderBy("created_at")
    .orderBy("id")
    .execute();

export const countSchedules = (db: Db, tenantId: string): Promise<number> =>
  countOf(ofTenant(db, "schedules", tenantId).where("deleted_at", "is", null));

/** Finds a schedule, also a deleted one. */
export const findSchedule = (db: Db, tenantId: string, id: string) =>
  rowsOfTenant(db, "schedules", tenantId).where("id", "=", id).executeTakeFirst();

/** Whether the schedule exists and is not deleted. */
export const hasSchedule = async (db: Db, tenantId: string, id: string): Promise<boolean> => {
  const found = await findSchedule(db, tenantId, id);
  return found !== undefined && found.deleted_at === null;
};

/** Marks a schedule as deleted; returns whether it was not deleted before. */
export const deleteSchedule = async (
  tx: Db,
  tenantId: string,
  id: string,
  now: number,
): Promise<boolean> => {
  const key = { tenant_id: tenantId, id, deleted_at: null };
  return (await changeRows(tx, "schedules", key, { deleted_at: now, updated_at: now })) === 1;
};
