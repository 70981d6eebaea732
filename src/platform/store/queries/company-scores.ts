import type { Db } from "../port.ts";
import { prepareFind } from "../engine/prepared.ts";
import { createUpsert } from "../engine/bulk-writes.ts";
import { rowsOfTenant } from "../engine/rows.ts";

/** Finds the newest score of a company. */
export const findLatestScore = prepareFind((db: Db, tenantId: string, companyId: string) =>
  rowsOfTenant(db, "company_scores", tenantId)
    .where("company_id", "=", companyId)
    .orderBy("as_of", "desc")
    .limit(1),
);

/** Finds all scores of several companies. */
export const findScores = (db: Db, tenantId: string, companyIds: readonly string[]) =>
  rowsOfTenant(db, "company_scores", tenantId).where("company_id", "in", companyIds).execute();

/** Adds or replaces scores; no two may have the same company and time. */
export const putScores = createUpsert("company_scores", ["tenant_id", "company_id", "as_of"]);
