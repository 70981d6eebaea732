import { z } from "zod";
import { auditFields, CodeText, Description, RecordId, tenantPath } from "../fields.ts";
import { defineOperation } from "../operation.ts";

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
  defaultInternalReasonId: RecordId.nullable().optional().meta({ description: "null clears" }),
  defaultExternalReasonId: RecordId.nullable().optional().meta({ description: "null clears" }),
};

const CATEGORIES = "/dispute/v1/tenants/{tenantId}/categories";

export const categories = {
  get: defineOperation({
    id: "categories.get",
    service: "gateway",
    method: "GET",
    path: `${CATEGORIES}/code/{categoryCode}`,
    access: "Dispute Configuration : READ",
    summary: "Read one dispute category by code.",
    params: z.object({ ...tenantPath, categoryCode: CodeText }),
    output: Category,
    audit: "category.read",
    source: "gateway 4",
  }),
  get_by_id: defineOperation({
    id: "categories.get_by_id",
    service: "gateway",
    method: "GET",
    path: `${CATEGORIES}/{categoryId}`,
    access: "Dispute Configuration : READ",
    summary: "Read one dispute category by id.",
    params: z.object({ ...tenantPath, categoryId: RecordId }),
    output: Category,
    extension: true,
    audit: "category.read",
    source: "gateway 4",
  }),
  list: defineOperation({
    id: "categories.list",
    service: "gateway",
    method: "GET",
    path: CATEGORIES,
    access: "Dispute Configuration : READ",
    summary: "List the dispute categories.",
    params: z.object(tenantPath),
    output: z.array(Category),
    audit: "category.listed",
    source: "gateway 4",
  }),
  create: defineOperation({
    id: "categories.create",
    service: "gateway",
    method: "POST",
    path: CATEGORIES,
    access: "Dispute Configuration : CREATE",
    summary: "Create a dispute category.",
    params: z.object(tenantPath),
    body: z.object({ code: CodeText, description: Description, ...defaults }),
    output: Category,
    errors: ["duplicate_code"],
    audit: "category.created",
    source: "gateway 4",
  }),
  update: defineOperation({
    id: "categories.update",
    service: "gateway",
    method: "PUT",
    path: `${CATEGORIES}/{categoryId}`,
    access: "Dispute Configuration : UPDATE",
    summary: "Update a dispute category and its default reasons.",
    params: z.object({ ...tenantPath, categoryId: RecordId }),
    body: z.object({ description: Description.optional(), ...defaults }),
    output: Category,
    audit: "category.updated",
    source: "gateway 4",
  }),
  delete: defineOperation({
    id: "categories.delete",
    service: "gateway",
    method: "DELETE",
    path: `${CATEGORIES}/by-code/{categoryCode}`,
    access: "Dispute Configuration : DELETE",
    summary: "Delete a dispute category that has no reasons.",
    params: z.object({ ...tenantPath, categoryCode: CodeText }),
    output: null,
    effects: [{ kind: "deletes", target: "category" }],
    errors: ["in_use"],
    audit: "category.deleted",
    source: "gateway 4",
  }),
};
