import { z } from "zod";
import { CallbackUrl } from "../callback-url.ts";
import { RecordId, text, Timestamp } from "../fields.ts";
import { type AuditMetadata, defineOperation } from "../operation.ts";

/** A webhook that is called when a scheduled run finishes; for every schedule if scheduleId is absent. */
export const Webhook = z.object({
  id: z.string(),
  tenantId: z.string(),
  scheduleId: z.string().optional().meta({ description: "absent: every schedule" }),
  callbackUrl: z.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Webhook = z.infer<typeof Webhook>;

/** The only response that contains the secret. */
export const NewWebhook = Webhook.extend({
  secret: z.string().meta({ description: "signing key; shown once" }),
});

export const RUN_EVENTS = ["export.completed", "export.failed"] as const;
export type RunEventKind = (typeof RUN_EVENTS)[number];

export const DELIVERY_STATUSES = ["delivered", "failed", "abandoned"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One delivery attempt of a webhook. */
export const WebhookDelivery = z.object({
  webhookId: z.string(),
  scheduleId: z.string(),
  event: z.enum(RUN_EVENTS),
  attempt: z.int().meta({ description: "from 1" }),
  status: z.enum(DELIVERY_STATUSES).meta({ description: "failed: another attempt follows" }),
  httpStatus: z.int().nullable().meta({ description: "null: no response" }),
  error: z.string().nullable().meta({ description: "such as TIMEOUT or HTTP_500" }),
  createdAt: Timestamp,
});
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

const WEBHOOKS = "/api/v1/remittance-export/webhooks";
const byId = z.object({ id: RecordId.meta({ description: "webhook id" }) });
const webhookId: AuditMetadata = ({ params }) => ({ webhookId: String(params["id"]) });

const remove = defineOperation({
  id: "webhooks.delete",
  service: "export",
  method: "DELETE",
  path: `${WEBHOOKS}/{id}`,
  access: "export:manage",
  summary: "Delete a webhook; pending retries continue.",
  params: byId,
  output: null,
  effects: [{ kind: "deletes", target: "webhook" }],
  audit: "webhook.deleted",
  auditMetadata: webhookId,
});

export const webhooks = {
  list: defineOperation({
    id: "webhooks.list",
    service: "export",
    method: "GET",
    path: WEBHOOKS,
    access: "export:read",
    summary: "List webhooks, without their secrets.",
    output: z.object({ data: z.array(Webhook) }),
    audit: "webhook.listed",
  }),
  create: defineOperation({
    id: "webhooks.create",
    service: "export",
    method: "POST",
    path: WEBHOOKS,
    access: "export:manage",
    summary: "Register a URL that is called when scheduled runs finish.",
    body: z.strictObject({
      scheduleId: text(128).nullish().meta({ description: "absent: every schedule" }),
      callbackUrl: CallbackUrl,
    }),
    output: NewWebhook,
    errors: ["conflict"],
    effects: [{ kind: "discloses", target: "the outcome of export runs" }],
    returnsSecret: {
      kind: "webhook-secret",
      field: "secret",
      id: "id",
      storedAs: "secretStoredAs",
      undo: remove,
    },
    audit: "webhook.created",
  }),
  list_deliveries: defineOperation({
    id: "webhooks.list_deliveries",
    service: "export",
    method: "GET",
    path: `${WEBHOOKS}/{id}/deliveries`,
    access: "export:read",
    summary: "List a webhook's last 100 delivery attempts, newest first.",
    params: byId,
    output: z.object({ data: z.array(WebhookDelivery) }),
    list: { anonymous: true },
    audit: "webhook.deliveries_read",
    auditMetadata: webhookId,
  }),
  delete: remove,
};
