import type { Db } from "../port.ts";
import type { WebhookRow } from "../tables/schema.ts";

/** Lists a tenant's webhooks, oldest first. */
export const listWebhooks = (db: Db, tenantId: string): Promise<WebhookRow[]> =>
  db
    .selectFrom("webhooks")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();

/** Finds the webhooks that are subscribed to a schedule's runs. */
export const listWebhooksFor = (
  db: Db,
  { tenantId, scheduleId }: { tenantId: string; scheduleId: string },
): Promise<WebhookRow[]> =>
  db
    .selectFrom("webhooks")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where((is) => is.or([is("schedule_id", "is", null), is("schedule_id", "=", scheduleId)]))
    .execute();

export const countWebhooks = async (db: Db, tenantId: string): Promise<number> => {
  const { count } = await db
    .selectFrom("webhooks")
    .select((of) => of.fn.countAll<number | string>().as("count"))
    .where("tenant_id", "=", tenantId)
    .executeTakeFirstOrThrow();
  return Number(count);
};

export const hasWebhook = async (db: Db, tenantId: string, id: string): Promise<boolean> => {
  const row = await db
    .selectFrom("webhooks")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row !== undefined;
};

/** Deletes a webhook; returns false if the tenant has none with the id. */
export const deleteWebhook = async (tx: Db, tenantId: string, id: string): Promise<boolean> => {
  const { numDeletedRows } = await tx
    .deleteFrom("webhooks")
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .executeTakeFirst();
  return numDeletedRows === 1n;
};
