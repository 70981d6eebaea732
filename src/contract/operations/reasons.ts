import { z } from "zod";
import { boundFaults } from "../faults.ts";
import { configurationOf } from "../configuration.ts";
import {
  alternative,
  auditFields,
  CodeText,
  Description,
  ReasonVisibility,
  RecordId,
  requiredUnless,
  tenantPath,
} from "../fields.ts";
import { defineOperations } from "../operation.ts";

export const Reason = z.object({
  reasonId: z.string(),
  tenantId: z.string(),
  code: z.string(),
  description: z.string(),
  active: z.boolean(),
  categoryId: z.string(),
  visibility: ReasonVisibility,
  ...auditFields,
});
export type Reason = z.infer<typeof Reason>;

/** A reason with the days within which its disputes are to be decided: its own, else those of the tenant. */
export const ReasonWithDays = z.object({
  ...Reason.shape,
  disputeDays: z.int().nullable().optional(),
});

const category = {
  categoryId: alternative(RecordId).describe("or categoryCode"),
  categoryCode: alternative(CodeText).describe("or categoryId"),
};

const hasCategory = (body: {
  categoryId?: string | undefined;
  categoryCode?: string | undefined;
}) => body.categoryId !== undefined || body.categoryCode !== undefined;
const CATEGORY_NEEDED = requiredUnless("categoryId", "categoryCode");

const filter = z.strictObject({
  Visibility: z.array(boundFaults(ReasonVisibility)).min(1).optional(),
});

const TENANT = "/dispute/v1/tenants/{tenantId}";

const reason = configurationOf("reason");

export const reasons = defineOperations("gateway", "reasons", {
  get: {
    ...reason.read,
    path: `${TENANT}/reasons/by-category-code/{categoryCode}/by-reason-code/{reasonCode}`,
    summary: "Read one dispute reason by category code and reason code.",
    params: z.object({ ...tenantPath, categoryCode: CodeText, reasonCode: CodeText }),
    output: Reason,
  },
  get_by_id: {
    ...reason.read,
    path: `${TENANT}/reasons/{reasonId}`,
    summary: "Read one dispute reason by id.",
    params: z.object({ ...tenantPath, reasonId: RecordId }),
    output: Reason,
    extension: true,
  },
  list: {
    ...reason.list,
    path: `${TENANT}/reasons`,
    summary: "List the dispute reasons.",
    query: z.strictObject({ ...filter.shape, DisputeDays: z.boolean().optional() }),
    additions: { name: "dispute_days", query: ["DisputeDays"] },
    output: z.array(ReasonWithDays),
  },
  list_by_category: {
    ...reason.list,
    path: `${TENANT}/categories/by-code/{categoryCode}/reasons`,
    summary: "List one category's dispute reasons.",
    params: z.object({ ...tenantPath, categoryCode: CodeText }),
    query: filter,
    output: z.array(Reason),
  },
  create: {
    ...reason.create,
    path: `${TENANT}/reasons`,
    summary: "Create a dispute reason in a category.",
    body: z
      .object({
        code: CodeText.meta({ description: "unique in its category" }),
        description: Description,
        active: z.boolean().optional().describe("new disputes may use it"),
        visibility: ReasonVisibility.optional(),
        ...category,
      })
      .refine(hasCategory, CATEGORY_NEEDED),
    output: Reason,
    errors: ["duplicate_code"],
  },
  update: {
    ...reason.update,
    path: `${TENANT}/reasons/{reasonId}`,
    summary: "Update a dispute reason; the category is required, and another one moves the reason.",
    params: z.object({ ...tenantPath, reasonId: RecordId }),
    body: z
      .object({
        description: Description.optional(),
        active: z.boolean().optional().describe("new disputes may use it"),
        visibility: ReasonVisibility.optional(),
        ...category,
      })
      .refine(hasCategory, CATEGORY_NEEDED),
    output: Reason,
    errors: ["duplicate_code", "in_use"],
  },
  delete: {
    ...reason.delete,
    path: `${TENANT}/categories/by-code/{categoryCode}/reasons/by-code/{reasonCode}`,
    summary: "Delete an unused dispute reason.",
    params: z.object({ ...tenantPath, categoryCode: CodeText, reasonCode: CodeText }),
  },
});
