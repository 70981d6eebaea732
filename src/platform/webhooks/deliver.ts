import { createHmac } from "node:crypto";
import { type Clock, formatTimestamp, SECOND } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { Seal } from "../../kit/seal.ts";
import type { Store } from "../store/port.ts";
import type { WebhookDeliveryRow } from "../store/tables/schema.ts";
import { findDelivery, recordAttempt } from "../store/queries/webhook-deliveries.ts";
import type { Job, JobKind } from "../jobs/job.ts";
import { DELIVERY_KIND } from "./events.ts";
import type { Message, Outcome, Send } from "./send.ts";
import { createSettle } from "./settle.ts";

export type DeliveryNeeds = {
  store: Store;
  clock: Clock;
  newId: NewId;
  log: Log;
  /** Decrypts the webhooks' secrets. */
  seal: Seal;
  send: Send;
  /** Delays between attempts in milliseconds; there is one attempt more than there are delays. */
  delaysMs: readonly number[];
  /** Version of this program, for the User-Agent header. */
  version: string;
};

// Waiting for a receiver costs little, so many deliveries can wait at once.
const AT_ONCE = 1000;
const PER_WEBHOOK = 2;
// Shutdown waits this long, so that most deliveries under way need not be sent again.
const GRACE_MS = SECOND;

/** Runs work whose signal aborts `ms` milliseconds after the given one. */
const delayAbort = async <T>(
  signal: AbortSignal,
  ms: number,
  work: (late: AbortSignal) => Promise<T>,
): Promise<T> => {
  const late = new AbortController();
  const abort = (): void => void setTimeout(() => late.abort(), ms).unref();
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  try {
    return await work(late.signal);
  } finally {
    signal.removeEventListener("abort", abort);
  }
};

const buildMessage = (
  delivery: WebhookDeliveryRow,
  { now, secret, version }: { now: number; secret: string; version: string },
): Message => {
  const { event, schedule_id: scheduleId } = delivery;
  const payload: unknown = JSON.parse(delivery.payload);
  const body = Buffer.from(
    JSON.stringify({ event, scheduleId, payload, deliveredAt: formatTimestamp(now) }),
  );
  return {
    url: new URL(delivery.callback_url),
    body,
    headers: {
      "Content-Type": "application/json",
      "User-Agent": `receivables-mcp/${version}`,
      "X-Webhook-Id": delivery.id,
      "X-Webhook-Attempt": String(delivery.attempts + 1),
      "X-Webhook-Signature": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
    },
  };
};

/** Returns the delivery of the job. Where the job's tenant has none, the job has ended. */
const findOrFinish = async (store: Store, job: Job): Promise<WebhookDeliveryRow | undefined> => {
  const delivery = await findDelivery(store.read, job.tenantId, job.id);
  if (delivery === undefined) await store.transaction((tx) => job.finish(tx));
  return delivery;
};

/** Sends deliveries to webhooks. A delivery whose outcome could not be recorded is sent again. */
export const createDeliveryJob = (needs: DeliveryNeeds): JobKind => {
  const { store, clock, newId, log, seal, send, delaysMs, version } = needs;

  const settled = createSettle(store);

  const settle = async (job: Job, delivery: WebhookDeliveryRow, outcome: Outcome) => {
    const now = clock();
    const attempt = delivery.attempts + 1;
    const delayMs = delaysMs[delivery.attempts];
    const failure = delayMs === undefined ? "abandoned" : "failed";
    const status = outcome.error === null ? "delivered" : failure;
    const { tenant_id, webhook_id, schedule_id, event } = delivery;
    const row = {
      tenant_id,
      id: newId(),
      webhook_id,
      schedule_id,
      event,
      delivery_id: delivery.id,
      attempt,
      status,
      http_status: outcome.httpStatus,
      error: outcome.error,
      created_at: now,
    } as const;
    await settled(async (tx) => {
      if (delayMs === undefined || status === "delivered") await job.finish(tx);
      else await job.repeat(tx, now + delayMs);
      await recordAttempt(tx, row, status !== "failed");
    });
    const fields = { webhookId: webhook_id, deliveryId: delivery.id, attempt };
    log.info(`webhook.${status}`, { ...fields, ...outcome });
  };

  return {
    kind: DELIVERY_KIND,
    leaseMs: 30 * SECOND,
    concurrency: AT_ONCE,
    perLane: PER_WEBHOOK,
    maxTries: 5,
    retryMs: (tries) => tries * SECOND,
    async run(job) {
      const delivery = await findOrFinish(store, job);
      if (delivery === undefined) return;
      const secret = seal.open(delivery.secret);
      if (typeof secret !== "string") throw new Error("a webhook's secret cannot be unsealed");
      const message = buildMessage(delivery, { now: clock(), secret, version });
      const outcome = await delayAbort(job.signal, GRACE_MS, (late) => send(message, late));
      await settle(job, delivery, outcome);
    },
    // The outcome is unknown, so the next attempt follows as after any other failure.
    async giveUp(job) {
      const delivery = await findOrFinish(store, job);
      if (delivery) await settle(job, delivery, { httpStatus: null, error: "INTERNAL" });
    },
  };
};
