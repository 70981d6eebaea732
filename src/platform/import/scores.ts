import { z } from "zod";
import type { Fault } from "../../contract/errors.ts";
import { CompanyId, CompanyScore } from "../../contract/operations/company-scores.ts";
import { checkValue } from "../services/ingest/body.ts";
import { findScores, putScores } from "../store/queries/company-scores.ts";
import type { CompanyScoreRow } from "../store/tables/schema.ts";
import { collectFields } from "./fields.ts";
import type { Needs, Target } from "./target.ts";
import { saveChanged } from "./upserts.ts";
import { ImportTimestamp, createStrictSchema } from "./strict-record.ts";

const Index = z.number().min(0).max(100);
const Flag = z.int().min(0).max(1).default(0);
const { fibs, dibs, creditLimit, bankruptcyFlag, outOfBusinessFlag } = CompanyScore.shape;

/** A company's scores at a point in time. */
const ScoreRecord = z.object({
  companyId: CompanyId,
  asOf: ImportTimestamp,
  ...CompanyScore.shape,
});
type ScoreRecord = z.output<typeof ScoreRecord>;

const Score = createStrictSchema(ScoreRecord, {
  instead: new Map<z.ZodType, z.ZodType>([
    ...Object.values({ ...fibs.shape, ...dibs.shape }).map((index): [z.ZodType, z.ZodType] => [
      index,
      Index,
    ]),
    [creditLimit, z.number().min(0)],
    [bankruptcyFlag, Flag],
    [outOfBusinessFlag, Flag],
  ]),
});

const toScoreRow = (
  tenantId: string,
  { companyId, asOf, ...score }: ScoreRecord,
): CompanyScoreRow => ({
  tenant_id: tenantId,
  company_id: companyId,
  as_of: Date.parse(asOf),
  fields: JSON.stringify(score),
});

/** Creates the import target of scores, identified by company and timestamp. A company's newest scores are served. */
export const createScoreTarget = ({ tenantId }: Needs): Target<ScoreRecord> => ({
  kind: "scores",
  fields: collectFields(ScoreRecord),
  batchRows: 1000,
  parse: (record) => checkValue(Score, record),
  identify: ({ values }) => ({
    field: "companyId",
    key: JSON.stringify([values.companyId, values.asOf]),
    facts: [JSON.stringify(values)],
  }),
  async write(tx, rows, journal) {
    const companies = new Set(rows.map(({ values }) => values.companyId));
    return saveChanged({
      table: "company_scores",
      journal,
      rows,
      known: await findScores(tx, tenantId, [...companies]),
      keyOf: ({ company_id, as_of }) => JSON.stringify([company_id, as_of]),
      rowOf: (score): CompanyScoreRow | Fault[] => toScoreRow(tenantId, score),
      put: (changed) => putScores(tx, changed),
    });
  },
});
