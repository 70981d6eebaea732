import type { Migration } from "kysely/migration";
import { addition, TRACKED, type Types } from "./addition.ts";

/** Files of disputes. */
export const disputeAttachments = (types: Types): Migration =>
  addition(types, {
    tables: {
      dispute_attachments: {
        columns: {
          tenant_id: "text",
          id: "text",
          dispute_id: "text",
          file_name: "text",
          visibility: "text",
          status: "text",
          failure_reasons: "text",
          upload_expires_at: "integer",
          uploaded_at: "integer?",
          file_key: "text?",
          file_size: "integer?",
          sha256: "text?",
          ...TRACKED,
        },
        key: ["tenant_id", "id"],
      },
    },
    // A signed URL names the record without its tenant.
    unique: [["dispute_attachments", ["id"]]],
    indexes: [
      ["dispute_attachments", ["tenant_id", "dispute_id", "created_at", "id"]],
      ["dispute_attachments", ["tenant_id", "file_key"]],
    ],
  });
