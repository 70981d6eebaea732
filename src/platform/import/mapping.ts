import type { Fault } from "../../contract/errors.ts";
import { type Cells, isBlank, readCell, toText } from "./cells.ts";
import { checkColumns, checkRequiredFields, mapByName } from "./columns.ts";
import { checkIdentifier, type Column, parseDayCell, readEntry, type Refuse } from "./entries.ts";
import type { Fields } from "./fields.ts";
import type { ImportMap } from "./map.ts";
import type { Condition } from "./map-schema.ts";
import type { Sums } from "./sums.ts";
import { createTotals } from "./totals.ts";

export type Mapped =
  | { as: "record"; record: Record<string, unknown>; sourceKey: string | undefined }
  | { as: "skipped" }
  /** A line that is no record, for instance one of totals; named in the report. */
  | { as: "leftOut"; type: string; reason: string; amount?: string; currency?: string }
  | { as: "refused"; faults: Fault[] };

const matchesCondition = (cells: Cells, condition: Condition, refuse: Refuse): boolean => {
  const { column } = condition;
  const value = readCell(cells, column);
  if ("equals" in condition) {
    return (value === undefined ? "" : toText(value)) === condition.equals.trim();
  }
  if (value === undefined) return false;
  if ("notEmpty" in condition) return true;
  const day = parseDayCell(condition, value, column, refuse);
  return day !== undefined && day <= condition.notAfter;
};

const setPath = (record: Record<string, unknown>, name: string, value: unknown): void => {
  if (!name.includes(".")) {
    record[name] = value;
    return;
  }
  const path = name.split(".");
  const last = path.pop() ?? name;
  let at = record;
  for (const part of path) at = (at[part] ??= {}) as Record<string, unknown>;
  at[last] = value;
};

const readSourceKey = (cells: Cells, columns: readonly string[], refuse: Refuse) => {
  const values = columns.map((column) => readCell(cells, column));
  if (values.every((value) => value === undefined)) {
    return refuse(columns.join(", "), "required", "names the row and is blank");
  }
  return JSON.stringify(values.map((value) => (value === undefined ? null : toText(value))));
};

// Numbers and references of payments, documents and accounts.
const IDENTIFIER = /(?:id|number|num|reference)$/i;

const isIdentifier = (name: string): boolean => IDENTIFIER.test(name);

/** Takes the row's names and JSON types, with trimmed identifiers and without blank values. */
const mapJsonRow = (cells: Cells): Mapped => {
  const record: Record<string, unknown> = {};
  const faults: Fault[] = [];
  const refuse: Refuse = (field, code, message) => void faults.push({ field, code, message });
  for (const [name, value] of Object.entries(cells)) {
    if (isBlank(value)) continue;
    const isKey = typeof value === "string" && isIdentifier(name);
    const trimmed = isKey ? value.trim() : value;
    if (isKey) checkIdentifier(name, trimmed, name, refuse);
    if (name !== "__proto__") record[name] = trimmed;
    else Object.defineProperty(record, name, { value: trimmed, enumerable: true });
  }
  if (faults.length > 0) return { as: "refused", faults };
  return { as: "record", record, sourceKey: undefined };
};

/** Lists the fields to read; amounts come last, because their currency is another field. */
const listColumns = (fields: Fields, map: ImportMap, isTable: boolean): Column[] => {
  const columns = [...map.entries].map(([name, entry]): Column => {
    const spec = fields.get(name) ?? { kind: "other" };
    const own = entry.from === "value" ? undefined : entry.number;
    const form = spec.kind === "number" ? (own ?? map.number) : undefined;
    return { name, entry, spec, form, isTable, isIdentifier: isIdentifier(name) };
  });
  return columns.toSorted(
    (one, other) =>
      Number(one.spec.currency !== undefined) - Number(other.spec.currency !== undefined),
  );
};

/** The statuses of payments that give money back, whose amounts may be below zero. */
const RETURNED: ReadonlySet<unknown> = new Set(["reversed", "refunded", "charged_back", "voided"]);

/**
 * Creates a check for debits of an account that are no payments of customers: an amount of payment whose sign comes
 * from a column for debits, and that returns no payment.
 */
const createDebitCheck = (columns: readonly Column[]) => {
  const signed = columns.find(({ spec: { role, negativeMark }, entry, form }) => {
    const isSigned =
      entry.from === "debitCredit" ||
      (entry.from !== "value" && entry.signFrom !== undefined) ||
      form?.negative === "DR/CR";
    return role === "amount" && negativeMark === "DR" && isSigned;
  });
  return (record: Cells): Mapped | undefined => {
    const value = signed === undefined ? undefined : record[signed.name];
    if (typeof value !== "number" || value >= 0) return undefined;
    if (RETURNED.has(record["applicationStatus"]) || RETURNED.has(record["paymentStatus"])) {
      return undefined;
    }
    const { [signed?.spec.currency ?? ""]: currency } = record;
    const reason = "is a debit of the account, not a payment of a customer";
    const left = { as: "leftOut", type: "debit", reason, amount: JSON.stringify(value) } as const;
    return typeof currency === "string" ? { ...left, currency } : left;
  };
};

/** Options of a mapping. */
export type MappingOptions = {
  /** The sums of a map's `{"sum": …}` by the record's key, from an earlier pass; without them a row has its own amount. */
  sums?: Pick<Sums, "find">;
  /** Counts the occurrences of a key in the file. */
  count?: (key: string) => number;
};

/** Returns the field that a map adds up over the rows of a record, and the field of the record's key. */
export const findSummedField = (
  fields: Fields,
  map: ImportMap | undefined,
): { amount: string; key: string } | undefined => {
  const amount = [...(map?.entries ?? [])].find(([, entry]) => entry.from === "sum")?.[0];
  const key = [...fields].find(([, { role }]) => role === "key")?.[0];
  return amount === undefined || key === undefined ? undefined : { amount, key };
};

/** Replaces the amount of a row by the sum of its record's rows. */
const applySum = (
  summed: ReturnType<typeof findSummedField>,
  sums: Pick<Sums, "find"> | undefined,
  record: Cells,
): void => {
  if (summed === undefined || sums === undefined) return;
  const key = record[summed.key];
  const sum = typeof key === "string" ? sums.find(key) : undefined;
  if (sum !== undefined) record[summed.amount] = sum;
};

/** The fields that name the document of a row, of which a payment can have several. */
const DOCUMENTS = ["documentNumber", "invoiceNumber"];

/** Adds the occurrence to a repeated key. */
const tellApart = (record: Cells, name: string, count: (key: string) => number): void => {
  const key = record[name];
  const occurrence = typeof key === "string" ? count(key) : 1;
  if (occurrence > 1) record[name] = `${String(key)} (${occurrence})`;
};

/**
 * Finds the key of payments that a map joins from other facts. Rows of which it is equal are separate payments, unless
 * they are about documents: a bank's list has no numbers of payments, and can have equal ones.
 */
const findJoinedKey = (fields: Fields, { entries }: ImportMap): string | undefined => {
  const [key, spec] = [...fields].find(([, { role }]) => role === "key") ?? [];
  const isPayment = [...fields.values()].some(({ role }) => role === "amount");
  if (key === undefined || spec === undefined || !isPayment) return undefined;
  if (entries.get(key)?.from !== "join" || DOCUMENTS.some((name) => entries.has(name)))
    return undefined;
  return key;
};

const REPEATED_HEADER = { type: "header", reason: "repeats the header" };

/** Whether a row repeats the header, as reports do on each page. */
const repeatsHeader = (cells: Cells): boolean => {
  let count = 0;
  for (const [name, value] of Object.entries(cells)) {
    if (isBlank(value)) continue;
    if (typeof value !== "string" || value.trim() !== name) return false;
    count += 1;
  }
  return count > 1;
};

/**
 * Creates the function that converts a row's cells to a target's record. `columns` are those of a table; null for
 * NDJSON, whose rows have names and JSON types. The function remembers the rows' sums, to recognize lines of totals.
 *
 * @throws {Problem} invalid_request if the map names columns that the file lacks or repeats, or if a required field has
 * no column
 */
export const createMapping = (
  fields: Fields,
  chosen: ImportMap | undefined,
  columns: readonly string[] | null,
  { sums, count }: MappingOptions = {},
): ((cells: Cells) => Mapped) => {
  const isTable = columns !== null;
  const map = chosen ?? (isTable ? mapByName(fields, columns) : undefined);
  if (map === undefined) return mapJsonRow;
  if (isTable) checkColumns(map, columns);
  checkRequiredFields(fields, map, columns, chosen === undefined);
  const sources = listColumns(fields, map, isTable);
  const summed = findSummedField(fields, map);
  const findDebit = createDebitCheck(sources);
  const joined = count === undefined ? undefined : findJoinedKey(fields, map);
  const totals = createTotals(fields);
  return (cells) => {
    const faults: Fault[] = [];
    const refuse: Refuse = (field, code, message) => void faults.push({ field, code, message });
    const keep = map.where.every((condition) => matchesCondition(cells, condition, refuse));
    if (!keep && faults.length === 0) return { as: "skipped" };
    const record: Record<string, unknown> = {};
    for (const source of sources) {
      const value = readEntry(cells, source, record, refuse);
      if (!isBlank(value)) setPath(record, source.name, value);
    }
    if (isTable && repeatsHeader(cells)) return { as: "leftOut", ...REPEATED_HEADER };
    const total = isTable ? totals.find(cells, record) : undefined;
    if (total !== undefined) return { as: "leftOut", ...total };
    const { sourceKey } = map;
    const key = sourceKey === undefined ? undefined : readSourceKey(cells, sourceKey, refuse);
    if (faults.length > 0) return { as: "refused", faults };
    totals.add(record);
    const debit = findDebit(record);
    if (debit !== undefined) return debit;
    applySum(summed, sums, record);
    if (joined !== undefined && count !== undefined) tellApart(record, joined, count);
    return { as: "record", record, sourceKey: key };
  };
};
