import { z } from "zod";
import { RecordId, tenantPath } from "../fields.ts";
import { defineOperation } from "../operation.ts";

// The spellings Millis and Mills are those of the interface documents.
export const ApiKey = z.object({
  keyId: z.string(),
  apiKey: z.string(),
  createDateInMillis: z.int().meta({ description: "Unix time in milliseconds" }),
  expiresAtInMills: z.int().meta({ description: "0: never" }),
});

const remove = defineOperation({
  id: "api_keys.delete",
  service: "gateway",
  method: "DELETE",
  path: "/authentication/v1/tenants/{tenantId}/users/profile/api-key/{keyId}",
  access: "member",
  summary: "Delete one of the caller's API keys.",
  params: z.object({ ...tenantPath, keyId: RecordId.describe("not the key itself") }),
  output: null,
  effects: [{ kind: "deletes", target: "API key" }],
  credential: "session_or_key",
  audit: "api_key.deleted",
});

export const api_keys = {
  create: defineOperation({
    id: "api_keys.create",
    service: "gateway",
    method: "POST",
    path: "/authentication/v1/tenants/{tenantId}/users/profile/api-key",
    access: "member",
    summary: "Create an API key with the caller's own access.",
    params: z.object(tenantPath),
    output: ApiKey,
    errors: ["conflict"],
    returnsSecret: {
      kind: "api-key",
      field: "apiKey",
      id: "keyId",
      storedAs: "storedAs",
      undo: remove,
    },
    credential: "session",
    audit: "api_key.created",
  }),
  delete: remove,
};
