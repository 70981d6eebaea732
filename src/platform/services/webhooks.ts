import type { Fault } from "../../contract/errors.ts";
import type { Contract } from "../../contract/index.ts";
import { NEEDS_HTTPS } from "../../contract/callback-url.ts";
import { type Webhook, type WebhookDelivery } from "../../contract/operations/webhooks.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import { type NewId, randomToken } from "../../kit/ids.ts";
import { BlockedAddress, type HostNeeds } from "../../kit/network.ts";
import type { Seal } from "../../kit/seal.ts";
import type { Call, Handlers } from "../handlers.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { hasSchedule } from "../store/queries/schedules.ts";
import type { WebhookAttemptRow, WebhookRow } from "../store/tables/schema.ts";
import { listAttempts } from "../store/queries/webhook-deliveries.ts";
import {
  countWebhooks,
  deleteWebhook,
  hasWebhook,
  listWebhooks,
} from "../store/queries/webhooks.ts";
import { resolveCallback } from "../webhooks/callback.ts";
import { describeMissing } from "./records.ts";
import { textBefore } from "../../kit/text.ts";

const MAX_WEBHOOKS = 20;
const MAX_DELIVERIES = 100;

const toWebhook = (row: WebhookRow): Webhook => ({
  id: row.id,
  tenantId: row.tenant_id,
  ...(row.schedule_id === null ? {} : { scheduleId: row.schedule_id }),
  callbackUrl: row.callback_url,
  createdAt: formatTimestamp(row.created_at),
  updatedAt: formatTimestamp(row.updated_at),
});

const toDelivery = (row: WebhookAttemptRow): WebhookDelivery => ({
  webhookId: row.webhook_id,
  scheduleId: row.schedule_id,
  event: row.event,
  attempt: row.attempt,
  status: row.status,
  httpStatus: row.http_status,
  error: row.error,
  createdAt: formatTimestamp(row.created_at),
});

/** Checks the addresses of a URL's host. Returns the URL without its fragment, which is never sent. */
const checkUrl = async (sent: string, hosts: HostNeeds, call: Call): Promise<string> => {
  const refuse = (why: string): never => call.refuse("callbackUrl", "format", why);
  const url = new URL(sent);
  try {
    await resolveCallback(url, hosts);
  } catch (error) {
    if (!(error instanceof BlockedAddress)) {
      refuse("must name a host that can be resolved");
    }
    refuse(
      url.protocol === "http:"
        ? NEEDS_HTTPS
        : "must not lead to a private, loopback, link-local or otherwise special address",
    );
  }
  return textBefore(sent, "#");
};

/** The fault of a webhook for a schedule that the tenant does not have. */
const UNKNOWN_SCHEDULE: Fault = {
  field: "scheduleId",
  code: "unknown_reference",
  message: "names no schedule",
};

export type WebhookNeeds = {
  newId: NewId;
  seal: Seal;
  hosts: HostNeeds;
};

/** Handlers of webhooks: callbacks for finished runs. */
export const webhooks = (needs: WebhookNeeds): Handlers<Contract["webhooks"]> => ({
  async list(_input, call) {
    return { body: { data: (await listWebhooks(call.db, call.tenantId)).map(toWebhook) } };
  },

  async create({ body: { scheduleId, callbackUrl } }, call) {
    const { tenantId, now } = call;
    const secret = randomToken();
    const row: WebhookRow = {
      tenant_id: tenantId,
      id: needs.newId(),
      schedule_id: scheduleId || null,
      callback_url: await checkUrl(callbackUrl, needs.hosts, call),
      secret: needs.seal.seal(secret),
      created_at: now,
      updated_at: now,
    };
    return call.change(async (tx) => {
      if (row.schedule_id !== null && !(await hasSchedule(tx, tenantId, row.schedule_id))) {
        call.invalid([UNKNOWN_SCHEDULE]);
      }
      const named = row.schedule_id === null ? {} : { scheduleId: row.schedule_id };
      if ((await countWebhooks(tx, tenantId)) >= MAX_WEBHOOKS) {
        const message = `A tenant may have ${MAX_WEBHOOKS} webhooks. Delete one first.`;
        call.fail("conflict", message, { audit: { metadata: named } });
      }
      await insertAll(tx, "webhooks", [row]);
      return {
        body: { ...toWebhook(row), secret },
        createdId: row.id,
        audit: { metadata: { ...named, webhookId: row.id } },
      };
    });
  },

  async list_deliveries({ params: { id } }, call) {
    const { tenantId } = call;
    if (!(await hasWebhook(call.db, tenantId, id))) {
      call.fail("not_found", describeMissing("webhook", "id", id));
    }
    const rows = await listAttempts(call.db, { tenantId, webhookId: id }, MAX_DELIVERIES);
    return { body: { data: rows.map(toDelivery) } };
  },

  async delete({ params: { id } }, call) {
    return call.change(async (tx) => {
      if (!(await deleteWebhook(tx, call.tenantId, id))) {
        call.fail("not_found", describeMissing("webhook", "id", id));
      }
      return { body: null };
    });
  },
});
