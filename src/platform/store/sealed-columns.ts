import type { SealedColumn } from "../../kit/sealed-column.ts";
import { AUDIT_KEY_PURPOSE } from "./audit-key.ts";

/** The purposes of the seals around secrets of webhooks and answers to requests with a key. */
export const SEALS = { webhook: "webhook-secret", answer: "idempotency" } as const;

/** Every column of sealed text, by the name that a rotation reports. */
export const SEALED_COLUMNS: Record<string, SealedColumn & { purpose: string }> = {
  webhooks: {
    table: "webhooks",
    column: "secret",
    key: ["tenant_id", "id"],
    purpose: SEALS.webhook,
  },
  deliveries: {
    table: "webhook_deliveries",
    column: "secret",
    key: ["id"],
    purpose: SEALS.webhook,
  },
  answers: {
    table: "idempotency_keys",
    column: "answer",
    key: ["tenant_id", "principal", "operation", "key"],
    purpose: SEALS.answer,
  },
  auditKeys: { table: "audit_keys", column: "sealed", key: ["id"], purpose: AUDIT_KEY_PURPOSE },
};
