import { z } from "zod";
import { RecordId, tenantPath } from "../fields.ts";
import { defineOperations } from "../operation.ts";

const Index = z.number().meta({ description: "0 to 100" });

/** Credit scores of a buyer company. */
export const CompanyScore = z.object({
  fibs: z
    .object({ fibs_score: Index, fibs_confidence: Index })
    .meta({ description: "payment outlook" }),
  dibs: z
    .object({ dibs_score: Index, dibs_confidence: Index })
    .meta({ description: "business viability" }),
  creditLimit: z.number().meta({ description: "calculated" }),
  bankruptcyFlag: z.int().meta({ description: "1: filed for bankruptcy" }),
  outOfBusinessFlag: z.int().meta({ description: "1: out of business" }),
});
export type CompanyScore = z.infer<typeof CompanyScore>;

const toText = (value: unknown): unknown =>
  typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;

/** A company id: applications have it as an integer, paths as text. */
export const CompanyId = z
  .preprocess(toText, RecordId)
  .describe("company.companyId of an application");

export const company_scores = defineOperations("gateway", "company_scores", {
  get: {
    method: "GET",
    path: "/creditprofile/api/v1/tenants/{tenantId}/company/{companyId}/score",
    access: "Credit Applications : READ",
    summary: "Read a buyer company's latest scores and calculated credit limit.",
    params: z.object({ ...tenantPath, companyId: CompanyId }),
    output: CompanyScore,
    audit: "company_score.read",
  },
});
