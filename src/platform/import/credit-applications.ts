import { z } from "zod";
import {
  FormField,
  FormSection,
  FormType,
  BankReference,
  SecondaryField,
  SetField,
  TradeReference,
} from "../../contract/credit-form.ts";
import type { Fault } from "../../contract/errors.ts";
import { text } from "../../contract/fields.ts";
import {
  ApplicationStatus,
  ApplicationUser,
  CreditApplicationDetail,
  ReferenceCounts,
  STATUS_TITLES,
  STATUS_TYPES,
} from "../../contract/operations/credit-applications.ts";
import { toGrouping } from "../services/business-units.ts";
import {
  toApplicationRow,
  listUnitIds,
  WholeApplication,
} from "../services/credit-applications/record.ts";
import * as rules from "../services/credit-applications/rules.ts";
import { checkValue } from "../services/ingest/body.ts";
import { shorten } from "../services/records.ts";
import { listBusinessUnits } from "../store/queries/business-units.ts";
import { findApplications, putApplications } from "../store/queries/credit-applications.ts";
import type { Db } from "../store/port.ts";
import { collectFields } from "./fields.ts";
import type { Needs, Target } from "./target.ts";
import { saveChanged } from "./upserts.ts";
import { Key, ImportTimestamp, type Rule, createStrictSchema } from "./strict-record.ts";

const Status = z
  .strictObject({
    type: z.enum(STATUS_TYPES),
    statusDate: ImportTimestamp,
    title: text(200).min(1).optional(),
  })
  .transform(({ title, ...status }) => ({ ...status, title: title ?? STATUS_TITLES[status.type] }));

const combineRules =
  (...all: Rule[]): Rule =>
  (value, context) => {
    for (const rule of all) rule(value, context);
  };

const Application = createStrictSchema(WholeApplication, {
  rules: new Map<z.ZodType, Rule>([
    [FormField, combineRules(rules.checkField, rules.checkPart)],
    [SecondaryField, combineRules(rules.checkLeaf, rules.checkPart)],
    [SetField, combineRules(rules.checkLeaf, rules.checkPart)],
    [FormSection, rules.checkPart],
    [FormType, combineRules(rules.checkPart, rules.checkFormType)],
    [TradeReference, rules.checkReference],
    [BankReference, rules.checkReference],
    [ApplicationUser, rules.checkUser],
    [ReferenceCounts, rules.checkCounts],
  ]),
  instead: new Map<z.ZodType, z.ZodType>([
    [ApplicationStatus, Status],
    [CreditApplicationDetail.shape.applicationId, Key],
  ]),
});

const findUnknownUnits = (application: WholeApplication, known: ReadonlySet<string>): Fault[] =>
  listUnitIds(application)
    .filter((id) => !known.has(id))
    .slice(0, 1)
    .map((id) => ({
      field: "businessUnitsIds",
      code: "unknown_reference",
      message: `names ${shorten(id)}, which is not a value of a business unit; import the business units first`,
    }));

const readUnitIds = async (tx: Db, tenantId: string): Promise<Set<string>> => {
  const groupings = (await listBusinessUnits(tx, tenantId)).map(toGrouping);
  const values = groupings.flatMap(({ businessUnitsValuesList }) => businessUnitsValuesList);
  return new Set(values.map(({ businessUnitsValuesId }) => businessUnitsValuesId));
};

/** Creates the import target of credit applications: a row creates or replaces the application with its id. */
export const createApplicationTarget = ({ tenantId }: Needs): Target<WholeApplication> => ({
  kind: "credit-applications",
  fields: collectFields(WholeApplication),
  // Forms can be large, so a batch is small to bound memory.
  batchRows: 100,
  parse: (record) => checkValue(Application, record),
  identify: ({ values }) => ({
    field: "applicationId",
    key: values.applicationId,
    facts: [JSON.stringify(values)],
  }),
  async write(tx, rows, journal) {
    const units = await readUnitIds(tx, tenantId);
    const ids = rows.map(({ values }) => values.applicationId);
    return saveChanged({
      table: "credit_applications",
      journal,
      rows,
      known: await findApplications(tx, tenantId, [...new Set(ids)]),
      keyOf: ({ id }) => id,
      rowOf: (application): ReturnType<typeof toApplicationRow> | Fault[] => {
        const faults = findUnknownUnits(application, units);
        return faults.length > 0 ? faults : toApplicationRow(tenantId, application);
      },
      put: (changed) => putApplications(tx, changed),
    });
  },
});
