import { z } from "zod";
import { configurationOf } from "../configuration.ts";
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

const resolution = configurationOf("resolution");

export const resolutions = defineOperations("gateway", "resolutions", {
  get: {
    ...resolution.read,
    path: `${RESOLUTIONS}/by-code/{resolutionCode}`,
    summary: "Read one dispute resolution by code.",
    params: z.object({ ...tenantPath, resolutionCode: CodeText }),
    output: Resolution,
  },
  get_by_id: {
    ...resolution.read,
    path: `${RESOLUTIONS}/{resolutionId}`,
    summary: "Read one dispute resolution by id.",
    params: z.object({ ...tenantPath, resolutionId: RecordId }),
    output: Resolution,
    extension: true,
  },
  list: {
    ...resolution.list,
    path: RESOLUTIONS,
    summary: "List the dispute resolutions.",
    output: z.array(Resolution),
  },
  create: {
    ...resolution.create,
    path: RESOLUTIONS,
    summary: "Create a dispute resolution.",
    body: z.object({
      code: UniqueCode,
      description: Description,
      active: z.boolean().optional().describe("disputes may be closed with it"),
      isValid: z.boolean().optional().describe("the claim was justified; default false"),
    }),
    output: Resolution,
    errors: ["duplicate_code"],
  },
  update: {
    ...resolution.update,
    path: `${RESOLUTIONS}/{resolutionId}`,
    summary: "Update a dispute resolution.",
    params: z.object({ ...tenantPath, resolutionId: RecordId }),
    body: z.object({
      description: Description.optional(),
      active: z.boolean().optional().describe("disputes may be closed with it"),
      isValid: z.boolean().optional().describe("the claim was justified"),
    }),
    output: Resolution,
  },
  delete: {
    ...resolution.delete,
    path: `${RESOLUTIONS}/{resolutionId}`,
    summary: "Delete an unused dispute resolution by id.",
    params: z.object({ ...tenantPath, resolutionId: RecordId }),
  },
  delete_by_code: {
    ...resolution.delete,
    path: `${RESOLUTIONS}/by-code/{resolutionCode}`,
    summary: "Delete an unused dispute resolution by code.",
    params: z.object({ ...tenantPath, resolutionCode: CodeText }),
  },
});
