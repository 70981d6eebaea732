import { sql } from "kysely";
import { createKeyedTable } from "./coded-table.ts";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import type { WebhookAttemptRow } from "../tables/schema.ts";
import { countRemoved, ofTenant, rowsOfTenant } from "../engine/rows.ts";

const { find, update, remove } = createKeyedTable("webhook_deliveries");

export const findDelivery = find;

/** Records the outcome of an attempt; the delivery waits for the next attempt or is removed. */
export const recordAttempt = async (
  tx: Db,
  attempt: WebhookAttemptRow,
  ended: boolean,
): Promise<void> => {
  await tx.insertInto("webhook_attempts").values(attempt).execute();
  const delivery = { tenant_id: attempt.tenant_id, id: attempt.delivery_id };
  if (ended) await remove(tx, delivery);
  else await update(tx, delivery, { attempts: attempt.attempt });
};

export type DeliveryCount = { state: DeliveryState; count: number; oldest: number };

/** `new`: no attempt was made; `retrying`: an attempt failed. */
export const DELIVERY_STATES = ["new", "retrying"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Counts the deliveries that have not ended; `oldest` is the time of the oldest event. */
export const countDeliveries = async (db: Db): Promise<DeliveryCount[]> => {
  const { rows } = await sql<DeliveryCount>`
    select case when attempts = 0 then 'new' else 'retrying' end as state,
      count(*) as count, min(created_at) as oldest
    from webhook_deliveries group by 1`.execute(db);
  return rows;
};

const MOST_AT_ONCE = 1000;

/** Removes a bounded number of attempts from before a time; returns how many. */
export const purgeAttempts = (tx: Db, before: number): Promise<number> => {
  const old = { where: sql`created_at < ${before}`, order: ["created_at"], most: MOST_AT_ONCE };
  const isOld = getDialect(tx).isAmongFirst("webhook_attempts", old);
  return countRemoved(tx.deleteFrom("webhook_attempts").where(isOld));
};

/** Lists a webhook's latest attempts, newest first. */
export const listAttempts = (
  db: Db,
  { tenantId, webhookId }: { tenantId: string; webhookId: string },
  atMost: number,
) =>
  rowsOfTenant(db, "webhook_attempts", tenantId)
    .where("webhook_id", "=", webhookId)
    .orderBy("created_at", "desc")
    .orderBy("attempt", "desc")
    .orderBy("id", "desc")
    .limit(atMost)
    .execute();

/** Lists a tenant's deliveries that wait for an attempt. */
export const listDeliveries = (db: Db, tenantId: string) =>
  ofTenant(db, "webhook_deliveries", tenantId).select(["id", "webhook_id"]).execute();
