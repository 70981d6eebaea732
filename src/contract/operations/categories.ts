import { z } from "zod";
import { configurationOf } from "../configuration.ts";
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

const category = configurationOf("category");

export const categories = defineOperations("gateway", "categories", {
  get: {
    ...category.read,
    path: `${CATEGORIES}/code/{categoryCode}`,
    summary: "Read one dispute category by code.",
    params: z.object({ ...tenantPath, categoryCode: CodeText }),
    output: Category,
  },
  get_by_id: {
    ...category.read,
    path: `${CATEGORIES}/{categoryId}`,
    summary: "Read one dispute category by id.",
    params: z.object({ ...tenantPath, categoryId: RecordId }),
    output: Category,
    extension: true,
  },
  list: {
    ...category.list,
    path: CATEGORIES,
    summary: "List the dispute categories.",
    output: z.array(Category),
  },
  create: {
    ...category.create,
    path: CATEGORIES,
    summary: "Create a dispute category.",
    body: z.object({ code: UniqueCode, description: Description, ...defaults }),
    output: Category,
    errors: ["duplicate_code"],
  },
  update: {
    ...category.update,
    path: `${CATEGORIES}/{categoryId}`,
    summary: "Update a dispute category and its default reasons.",
    params: z.object({ ...tenantPath, categoryId: RecordId }),
    body: z.object({ description: Description.optional(), ...defaults }),
    output: Category,
  },
  delete: {
    ...category.delete,
    path: `${CATEGORIES}/by-code/{categoryCode}`,
    summary: "Delete a dispute category that has no reasons.",
    params: z.object({ ...tenantPath, categoryCode: CodeText }),
  },
});
