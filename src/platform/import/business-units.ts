import type { z } from "zod";
import type { Fault } from "../../contract/errors.ts";
import {
  BusinessUnitGrouping,
  BusinessUnitValue,
} from "../../contract/operations/business-units.ts";
import { toGroupingRow, toGrouping } from "../services/business-units.ts";
import { checkValue } from "../services/ingest/body.ts";
import { listBusinessUnits, putBusinessUnits } from "../store/queries/business-units.ts";
import { hasUnits } from "../store/queries/credit-applications.ts";
import type { Db } from "../store/port.ts";
import type { BusinessUnitRow } from "../store/tables/schema.ts";
import { collectFields } from "./fields.ts";
import type { Accepted, Needs, Outcome, Target } from "./target.ts";
import { Key, createStrictSchema } from "./strict-record.ts";

const Grouping = createStrictSchema(BusinessUnitGrouping, {
  instead: new Map<z.ZodType, z.ZodType>([
    [BusinessUnitGrouping.shape.businessUnitsId, Key],
    [BusinessUnitValue.shape.businessUnitsValuesId, Key],
  ]),
});

const listValueIds = ({ businessUnitsValuesList }: BusinessUnitGrouping): string[] =>
  businessUnitsValuesList.map(({ businessUnitsValuesId }) => businessUnitsValuesId);

const createFault = (code: string, message: string): Fault[] => [
  { field: "businessUnitsValuesList", code, message },
];

/** One batch of rows to write in one transaction. */
type Batch = {
  tx: Db;
  tenantId: string;
  known: Map<string, BusinessUnitGrouping>;
  /** The grouping of each value. */
  owners: Map<string, string>;
  changed: Set<string>;
};

const findDuplicates = ({ owners }: Batch, grouping: BusinessUnitGrouping): Fault[] => {
  const ids = listValueIds(grouping);
  if (new Set(ids).size < ids.length) return createFault("duplicate", "names a value twice");
  const taken = ids.some(
    (id) => (owners.get(id) ?? grouping.businessUnitsId) !== grouping.businessUnitsId,
  );
  return taken ? createFault("duplicate", "names a value of another grouping") : [];
};

/** Refuses to remove a value that a credit application refers to. */
const findRemovedInUse = async (batch: Batch, grouping: BusinessUnitGrouping): Promise<Fault[]> => {
  const before = batch.known.get(grouping.businessUnitsId);
  const remaining = new Set(listValueIds(grouping));
  const removed =
    before === undefined ? [] : listValueIds(before).filter((id) => !remaining.has(id));
  if (removed.length === 0 || !(await hasUnits(batch.tx, batch.tenantId, removed))) return [];
  return createFault("in_use", "lacks a value that credit applications name");
};

const writeRow = async (batch: Batch, grouping: BusinessUnitGrouping): Promise<Outcome> => {
  const { known, owners, changed } = batch;
  const { businessUnitsId: id } = grouping;
  const before = known.get(id);
  if (JSON.stringify(before) === JSON.stringify(grouping)) return "unchanged";
  const faults = [...findDuplicates(batch, grouping), ...(await findRemovedInUse(batch, grouping))];
  if (faults.length > 0) return faults;
  for (const value of before === undefined ? [] : listValueIds(before)) owners.delete(value);
  for (const value of listValueIds(grouping)) owners.set(value, id);
  known.set(id, grouping);
  changed.add(id);
  return "written";
};

const openBatch = (tx: Db, tenantId: string, stored: readonly BusinessUnitRow[]): Batch => {
  const groupings = stored.map(toGrouping);
  const known = new Map(groupings.map((grouping) => [grouping.businessUnitsId, grouping]));
  const owners = new Map(
    groupings.flatMap((grouping) =>
      listValueIds(grouping).map((id) => [id, grouping.businessUnitsId]),
    ),
  );
  return { tx, tenantId, known, owners, changed: new Set() };
};

/** Creates the import target of business units: a row creates or replaces the grouping with its id. */
export const createBusinessUnitTarget = ({ tenantId }: Needs): Target<BusinessUnitGrouping> => ({
  kind: "business-units",
  fields: collectFields(BusinessUnitGrouping),
  batchRows: 1000,
  parse: (record) => checkValue(Grouping, record),
  identify: ({ values }) => ({
    field: "businessUnitsId",
    key: values.businessUnitsId,
    facts: [JSON.stringify(values)],
  }),
  async write(tx, rows: readonly Accepted<BusinessUnitGrouping>[], journal) {
    const stored = await listBusinessUnits(tx, tenantId);
    const batch = openBatch(tx, tenantId, stored);
    const outcomes: Outcome[] = [];
    for (const { values } of rows) outcomes.push(await writeRow(batch, values));
    const changed = [...batch.changed].flatMap((id) => batch.known.get(id) ?? []);
    const after = changed.map((grouping) => toGroupingRow(tenantId, grouping));
    const before = new Map(stored.map((row) => [row.id, row]));
    await putBusinessUnits(tx, after);
    for (const row of after) {
      const old = before.get(row.id);
      if (old === undefined) journal.created("business_units", [row]);
      else journal.changed("business_units", old, row);
    }
    return outcomes;
  },
});
