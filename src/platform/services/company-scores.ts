import type { Contract } from "../../contract/index.ts";
import type { CompanyScore } from "../../contract/operations/company-scores.ts";
import type { Call, Handlers } from "../handlers.ts";
import { findLatestScore } from "../store/company-scores.ts";
import { calculateScore } from "./company-scores/calculated.ts";
import { shorten } from "./records.ts";

type Asking = Pick<Call, "db" | "snapshot" | "tenantId" | "now">;

/** Returns the score of a company, undefined where the provider does not know the company. */
type ScoreProvider = (asking: Asking, companyId: string) => Promise<CompanyScore | undefined>;

const findImportedScore: ScoreProvider = async ({ db, tenantId }, companyId) => {
  const row = await findLatestScore(db, tenantId, companyId);
  return row && (JSON.parse(row.fields) as CompanyScore);
};

// In order of precedence.
const PROVIDERS: readonly ScoreProvider[] = [findImportedScore, calculateScore];

export const company_scores = (): Handlers<Contract["company_scores"]> => ({
  async get({ params }, call) {
    for (const provider of PROVIDERS) {
      const score = await provider(call, params.companyId);
      if (score !== undefined) return { body: score };
    }
    return call.fail("not_found", `There is no score of the company ${shorten(params.companyId)}.`);
  },
});
