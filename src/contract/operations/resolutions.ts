import { z } from "zod";
import { auditFields, CodeText, Description, RecordId, tenantPath, UniqueCode } from "../fields.ts";
import { defineOperations } from "../operation.ts";

export const Resolution = z.object({
  resolutionId: z.string(),
  tenantId: z.string(),
  code: z.string(),
  description: z.string(),
  active: z.boolean(),
  isValid: z.boolean(),
  applyWhenInvoiceClosed: z.boolean(),
  ...auditFields,
});
export type Resolution = z.infer<typeof Resolution>;

const RESOLUTIONS = "/dispute/v1/tenants/{tenantId}/resolutions";

export const resolutions = defineOperations("gateway", "resolutions", {
  get: {
    method: "GET",
    path: `${RESOLUTIONS}/by-code/{resolutionCode}`,
    access: "Dispute Configuration : READ",
    summary: "Read one dispute resolution by code.",
    params: z.object({ ...tenantPath, resolutionCode: CodeText }),
    output: Resolution,
    audit: "resolution.read",
  },
  get_by_id: {
    method: "GET",
    path: `${RESOLUTIONS}/{resolutionId}`,
    access: "Dispute Configuration : READ",
    summary: "Read one dispute resolution by id.",
    params: z.object({ ...tenantPath, resolutionId: RecordId }),
    output: Resolution,
    extension: true,
    audit: "resolution.read",
  },
  list: {
    method: "GET",
    path: RESOLUTIONS,
    access: "Dispute Configuration : READ",
    summary: "List the dispute resolutions.",
    params: z.object(tenantPath),
    output: z.array(Resolution),
    audit: "resolution.listed",
  },
  create: {
    method: "POST",
    path: RESOLUTIONS,
    access: "Dispute Configuration : CREATE",
    summary: "Create a dispute resolution.",
    params: z.object(tenantPath),
    body: z.object({
      code: UniqueCode,
      description: Description,
      active: z.boolean().optional().describe("disputes may be closed with it"),
      isValid: z.boolean().optional().describe("the claim was justified; default false"),
    }),
    output: Resolution,
    errors: ["duplicate_code"],
    audit: "resolution.created",
  },
  update: {
    method: "PUT",
    path: `${RESOLUTIONS}/{resolutionId}`,
    access: "Dispute Configuration : UPDATE",
    summary: "Update a dispute resolution.",
    params: z.object({ ...tenantPath, resolutionId: RecordId }),
    body: z.object({
      description: Description.optional(),
      active: z.boolean().optional().describe("disputes may be closed with it"),
      isValid: z.boolean().optional().describe("the claim was justified"),
    }),
    output: Resolution,
    audit: "resolution.updated",
  },
  delete: {
    method: "DELETE",
    path: `${RESOLUTIONS}/{resolutionId}`,
    access: "Dispute Configuration : DELETE",
    summary: "Delete an unused dispute resolution by id.",
    params: z.object({ ...tenantPath, resolutionId: RecordId }),
    output: null,
    effects: [{ kind: "deletes", target: "resolution" }],
    errors: ["in_use"],
    audit: "resolution.deleted",
  },
  delete_by_code: {
    method: "DELETE",
    path: `${RESOLUTIONS}/by-code/{resolutionCode}`,
    access: "Dispute Configuration : DELETE",
    summary: "Delete an unused dispute resolution by code.",
    params: z.object({ ...tenantPath, resolutionCode: CodeText }),
    output: null,
    effects: [{ kind: "deletes", target: "resolution" }],
    errors: ["in_use"],
    audit: "resolution.deleted",
  },
});
