import type { Db } from "../port.ts";
import { prepareQuery } from "../engine/prepared.ts";
import type { CompanyScoreRow } from "../tables/schema.ts";
import { createUpsert } from "../engine/bulk-writes.ts";

const scoresOfCompany = prepareQuery((db: Db, tenantId: string, companyId: string) =>
  db
    .selectFrom("company_scores")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("company_id", "=", companyId)
    .orderBy("as_of", "desc")
    .limit(1),
);

/** Finds the newest score of a company. */
export const findLatestScore = async (
  db: Db,
  tenantId: string,
  companyId: string,
): Promise<CompanyScoreRow | undefined> => (await scoresOfCompany(db, tenantId, companyId))[0];

/** Finds all scores of several companies. */
export const findScores = (
  db: Db,
  tenantId: string,
  companyIds: readonly string[],
): Promise<CompanyScoreRow[]> =>
  db
    .selectFrom("company_scores")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("company_id", "in", companyIds)
    .execute();

/** Adds or replaces scores; no two may have the same company and time. */
export const putScores = createUpsert("company_scores", ["tenant_id", "company_id", "as_of"]);
