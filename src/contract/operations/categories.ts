import { z } from "zod";
import { auditFields, CodeText, Description, RecordId, tenantPath, UniqueCode } from "../fields.ts";
import { defineOperations } from "../operation.ts";

export const Category = z.object({
  categoryId: z.string(),
  tenantId: z.string(),
  code: z.string(),
  description: z.string(),
  defaultInternalReasonId: z.string().nullable(),
  defaultInternalReasonCode: z.string().nullable(),
  defaultExternalReasonId: z.string().nullable(),
  defaultExternalReasonCode: z.string().nullable(),
  ...auditFields,
});
export type Category = z.infer<typeof Category>;

const defaults = {
  defaultInternalReasonId: RecordId.nullable()
    .optional()
    .describe("own reason of new disputes; null clears"),
  defaultExternalReasonId: RecordId.nullable()
    .optional()
    .describe("customer's reason of new disputes; null clears"),
};

const CATEGORIES = "/dispute/v1/tenants/{tenantId}/categories";

export const categories = defineOperations("gateway", "categories", {
  get: {
    method: "GET",
    path: `${CATEGORIES}/code/{categoryCode}`,
    access: "Dispute Configuration : READ",
    summary: "Read one dispute category by code.",
    params: z.object({ ...tenantPath, categoryCode: CodeText }),
    output: Category,
    audit: "category.read",
  },
  get_by_id: {
    method: "GET",
    path: `${CATEGORIES}/{categoryId}`,
    access: "Dispute Configuration : READ",
    summary: "Read one dispute category by id.",
    params: z.object({ ...tenantPath, categoryId: RecordId }),
    output: Category,
    extension: true,
    audit: "category.read",
  },
  list: {
    method: "GET",
    path: CATEGORIES,
    access: "Dispute Configuration : READ",
    summary: "List the dispute categories.",
    params: z.object(tenantPath),
    output: z.array(Category),
    audit: "category.listed",
  },
  create: {
    method: "POST",
    path: CATEGORIES,
    access: "Dispute Configuration : CREATE",
    summary: "Create a dispute category.",
    params: z.object(tenantPath),
    body: z.object({ code: UniqueCode, description: Description, ...defaults }),
    output: Category,
    errors: ["duplicate_code"],
    audit: "category.created",
  },
  update: {
    method: "PUT",
    path: `${CATEGORIES}/{categoryId}`,
    access: "Dispute Configuration : UPDATE",
    summary: "Update a dispute category and its default reasons.",
    params: z.object({ ...tenantPath, categoryId: RecordId }),
    body: z.object({ description: Description.optional(), ...defaults }),
    output: Category,
    audit: "category.updated",
  },
  delete: {
    method: "DELETE",
    path: `${CATEGORIES}/by-code/{categoryCode}`,
    access: "Dispute Configuration : DELETE",
    summary: "Delete a dispute category that has no reasons.",
    params: z.object({ ...tenantPath, categoryCode: CodeText }),
    output: null,
    effects: [{ kind: "deletes", target: "category" }],
    errors: ["in_use"],
    audit: "category.deleted",
  },
});
