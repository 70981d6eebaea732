import type { Migration } from "kysely/migration";
import { addition, type Types } from "./addition.ts";

const EVENT = {
  tenant_id: "text",
  id: "text",
  webhook_id: "text",
  schedule_id: "text",
  event: "text",
} as const;

/** Creates webhooks, their pending events, and the log of deliveries. */
export const webhooks = (types: Types): Migration =>
  addition(types, {
    tables: {
      webhooks: {
        columns: {
          tenant_id: "text",
          id: "text",
          schedule_id: "text?",
          callback_url: "text",
          secret: "text",
          created_at: "integer",
          updated_at: "integer",
        },
        key: ["tenant_id", "id"],
      },
      webhook_deliveries: {
        columns: {
          ...EVENT,
          payload: "text",
          callback_url: "text",
          secret: "text",
          attempts: "integer",
          created_at: "integer",
        },
        key: ["id"],
      },
      webhook_attempts: {
        columns: {
          ...EVENT,
          delivery_id: "text",
          attempt: "integer",
          status: "text",
          http_status: "integer?",
          error: "text?",
          created_at: "integer",
        },
        key: ["id"],
      },
    },
    unique: [],
    indexes: [
      ["webhook_attempts", ["tenant_id", "webhook_id", "created_at"]],
      ["webhook_attempts", ["created_at"]],
    ],
  });
