import type { Db } from "../port.ts";
import { countOf, ofTenant, removeRows, rowsOfTenant } from "../engine/rows.ts";

/** Lists a tenant's webhooks, oldest first. */
export const listWebhooks = (db: Db, tenantId: string) =>
  rowsOfTenant(db, "webhooks", tenantId).orderBy("created_at").orderBy("id").execute();

/** Finds the webhooks that are subscribed to a schedule's runs. */
export const listWebhooksFor = (
  db: Db,
  { tenantId, scheduleId }: { tenantId: string; scheduleId: string },
) =>
  rowsOfTenant(db, "webhooks", tenantId)
    .where((is) => is.or([is("schedule_id", "is", null), is("schedule_id", "=", scheduleId)]))
    .execute();

export const countWebhooks = (db: Db, tenantId: string): Promise<number> =>
  countOf(ofTenant(db, "webhooks", tenantId));

export const hasWebhook = async (db: Db, tenantId: string, id: string): Promise<boolean> =>
  (await countOf(ofTenant(db, "webhooks", tenantId).where("id", "=", id))) > 0;

/** Deletes a webhook; returns false if the tenant has none with the id. */
export const deleteWebhook = async (tx: Db, tenantId: string, id: string): Promise<boolean> =>
  (await removeRows(tx, "webhooks", { tenant_id: tenantId, id })) === 1;
