import { abbreviate } from "../../contract/payments/value.ts";
import { findCurrencyDecimals } from "../money.ts";
import { type Cells, DateCell, ErrorCell, isBlank, isDash, readCell, toText } from "./cells.ts";
import { isCurrency } from "./currencies.ts";
import { type DayPattern, parseDay } from "./dates.ts";
import { type FieldSpec, parseCell } from "./fields.ts";
import type { DebitCredit, Entry, SignFrom, Sum, TextEntry } from "./map-schema.ts";
import {
  type AmountContext,
  isPlainDecimal,
  type NumberForm,
  readAmount,
  toExactNumber,
} from "./numbers.ts";

/** Records a fault of one field of a row. */
export type Refuse = (field: string, code: string, message: string) => undefined;

/** A field of the target with its source, as far as it is the same for all rows. */
export type Column = {
  name: string;
  entry: Entry;
  spec: FieldSpec;
  form: NumberForm | undefined;
  isIdentifier: boolean;
  /** Whether cells are texts or a workbook's values, not JSON. */
  isTable: boolean;
};

/** Names the column and the value in a message. */
export const locate = (column: string, value: unknown): string =>
  `(column ${abbreviate(column)}, value ${abbreviate(value)})`;

type Dated = { column: string; date?: DayPattern | undefined };

/** Parses a cell as a day, or records a fault. */
export const parseDayCell = (
  { column, date }: Dated,
  value: unknown,
  field: string,
  refuse: Refuse,
): string | undefined => {
  if (value instanceof DateCell) return value.day;
  const text = toText(value);
  const day = date === undefined ? parseDay(text) : date.read(text);
  const form = date?.pattern ?? "YYYY-MM-DD";
  return day ?? refuse(field, "format", `must be a date as ${form} ${locate(column, value)}`);
};

const lookUpValue = (
  column: string,
  values: Record<string, unknown>,
  value: unknown,
  field: string,
  refuse: Refuse,
): unknown => {
  const text = value === undefined ? "" : toText(value);
  if (Object.hasOwn(values, text)) return values[text];
  if (text !== "" && Object.hasOwn(values, "*")) return values["*"];
  if (text === "") return refuse(field, "required", `is blank (column ${abbreviate(column)})`);
  const listed = abbreviate(Object.keys(values));
  return refuse(
    field,
    "enum",
    `must be one of the map's values ${listed} ${locate(column, value)}`,
  );
};

const refuseError = (column: string, value: unknown, field: string, refuse: Refuse): unknown =>
  value instanceof ErrorCell
    ? refuse(field, "format", `must be a value, not an error ${locate(column, value)}`)
    : value;

/** Reads one cell, or several joined ones, as far as its regular expression finds a group. */
const readSource = (
  cells: Cells,
  entry: TextEntry,
  field: string,
  refuse: Refuse,
): { column: string; value: unknown } => {
  const columns = entry.from === "join" ? entry.join : [entry.column];
  const column = columns.join(", ");
  const found = columns.map((name) => refuseError(name, readCell(cells, name), field, refuse));
  const given = found.filter((one) => one !== undefined);
  const joined = entry.from === "join" && given.length > 0;
  const value = joined ? given.map(toText).join(entry.with) : given[0];
  if (entry.regex === undefined || value === undefined) return { column, value };
  const part = entry.regex.find(toText(value));
  return { column, value: isBlank(part) ? undefined : part };
};

const readTextEntry = (cells: Cells, entry: TextEntry, field: string, refuse: Refuse): unknown => {
  const { date, asOf, values } = entry;
  const source = readSource(cells, entry, field, refuse);
  const { column } = source;
  let { value } = source;
  let day: string | undefined;
  if (value !== undefined && (date !== undefined || asOf !== undefined)) {
    day = parseDayCell({ column, date }, value, field, refuse);
    if (day === undefined) return undefined;
    if (asOf !== undefined && day > asOf) value = undefined;
  }
  if (values !== undefined) return lookUpValue(column, values, value, field, refuse);
  return value === undefined || date === undefined ? value : day;
};

const takeCurrency = (record: Cells, { currency: name }: FieldSpec): AmountContext => {
  const currency = name === undefined ? undefined : record[name];
  return typeof currency === "string" && isCurrency(currency)
    ? { currency, decimals: findCurrencyDecimals(currency) }
    : {};
};

/** Reads an amount as a number; what is no number stays as it is, so that the schema refuses it. */
const toAmount = (
  { spec, name, form, isTable }: Column,
  column: string,
  value: unknown,
  record: Cells,
  refuse: Refuse,
): unknown => {
  if (typeof value !== "string" || (!isTable && form === undefined)) return value;
  if (spec.currency === undefined && form === undefined) return parseCell(spec.kind, value.trim());
  const text = value.trim();
  if (form === undefined && isPlainDecimal(text)) return toExactNumber(text);
  const { negativeMark } = spec;
  const read = readAmount(text, { form, negativeMark, ...takeCurrency(record, spec) });
  if ("decimal" in read) return toExactNumber(read.decimal);
  return refuse(name, read.code, `${read.message} ${locate(column, value)}`);
};

const negate = (value: unknown): unknown =>
  typeof value === "number" && value !== 0 ? -value : value;

/** Applies the sign of another column. */
const applySign = (
  cells: Cells,
  { column, negative, positive }: SignFrom,
  value: unknown,
  field: string,
  refuse: Refuse,
): unknown => {
  if (typeof value !== "number") return value;
  const found = readCell(cells, column);
  const mark = found === undefined ? "" : toText(found);
  const isNegative = negative.includes(mark);
  if (!isNegative && positive !== undefined && !positive.includes(mark)) {
    const listed = abbreviate([...negative, ...positive]);
    return refuse(field, "enum", `has a sign that is none of ${listed} ${locate(column, mark)}`);
  }
  if (!isNegative) return value;
  if (value >= 0) return negate(value);
  return refuse(field, "format", `has a minus beside its sign ${locate(column, mark)}`);
};

const readSigned = (
  cells: Cells,
  column: Column,
  entry: TextEntry | Sum,
  source: { column: string; value: unknown },
  record: Cells,
  refuse: Refuse,
): unknown => {
  const amount = toAmount(column, source.column, source.value, record, refuse);
  const { signFrom } = entry;
  const signed =
    signFrom === undefined ? amount : applySign(cells, signFrom, amount, column.name, refuse);
  return entry.negate === true ? negate(signed) : signed;
};

/**
 * Returns an amount of the column that reduces as one below zero. Many banks write their debits with a minus, and a
 * debit that was cancelled is no customer's payment either. In a ledger, both readings give another balance.
 */
const takeOff = (side: unknown, isDebit: boolean, column: Column, refuse: Refuse): unknown => {
  if (typeof side !== "number" || side > 0) return negate(side);
  if (isDebit) return side;
  const readings = `can be read as a credit of ${-side} or as a cancelled one`;
  const advice = `write it without a sign, or join both columns in the map ("join": ["Debit", "Credit"]), which takes each number with its sign`;
  return refuse(column.name, "format", `${readings}; ${advice}`);
};

/** Reads an amount from a column of debits or one of credits. */
const readDebitCredit = (
  cells: Cells,
  column: Column,
  entry: DebitCredit,
  record: Cells,
  refuse: Refuse,
): unknown => {
  const sides = [entry.debit, entry.credit].map((name) => {
    const value = name === undefined ? undefined : readCell(cells, name);
    if (name === undefined || value === undefined || isDash(value)) return undefined;
    return toAmount(column, name, refuseError(name, value, column.name, refuse), record, refuse);
  });
  const given = sides.filter((value) => value !== undefined && value !== 0);
  if (given.length > 1) {
    const names = `columns ${abbreviate(entry.debit)} and ${abbreviate(entry.credit)}`;
    return refuse(column.name, "format", `must be a debit or a credit, not both (${names})`);
  }
  const [debit, credit] = sides;
  if (given.length === 0) return debit ?? credit;
  const isDebit = debit !== undefined && debit !== 0;
  const side = isDebit ? debit : credit;
  const isNegative = isDebit === (column.spec.negativeMark !== "CR");
  const value = isNegative ? takeOff(side, isDebit, column, refuse) : side;
  return entry.negate === true ? negate(value) : value;
};

// Spreadsheets show numbers of more than 11 or 15 digits so, and lose their other digits when they save them.
const EXPONENT = /^-?\d(?:[.,]\d{1,14})?E[+-]\d{1,3}$/i;
const MOST_INTEGER = 1e15;

/** Refuses a number of a document, account or payment that a spreadsheet has rounded. */
export const checkIdentifier = (
  column: string,
  value: unknown,
  field: string,
  refuse: Refuse,
): unknown => {
  const isRounded =
    typeof value === "number"
      ? Math.abs(value) >= MOST_INTEGER
      : typeof value === "string" && EXPONENT.test(value);
  if (!isRounded) return value;
  const message =
    "has lost digits in a spreadsheet: format the column as text there and enter or export it again";
  return refuse(field, "format", `${message} ${locate(column, value)}`);
};

/** Converts a value of a cell to the field's kind. */
const toKind = (column: Column, source: string, value: unknown, refuse: Refuse): unknown => {
  const { name, spec, isTable, isIdentifier } = column;
  if (value instanceof DateCell) return spec.role === "day" ? value.day : value.toJSON();
  const checked = isIdentifier ? checkIdentifier(source, value, name, refuse) : value;
  if (typeof checked === "string") {
    const text = checked.trim();
    if (!isTable) return isIdentifier ? text : checked;
    return spec.role === "currency" ? text.toUpperCase() : parseCell(spec.kind, text);
  }
  const isScalar = typeof checked === "number" || typeof checked === "boolean";
  return isTable && isScalar && spec.kind === "text" ? JSON.stringify(checked) : checked;
};

/** Reads the value of a field; undefined if it is blank or was refused. */
export const readEntry = (cells: Cells, column: Column, record: Cells, refuse: Refuse): unknown => {
  const { entry, name, spec } = column;
  if (entry.from === "value") return entry.value;
  if (entry.from === "debitCredit") return readDebitCredit(cells, column, entry, record, refuse);
  if (entry.from === "sum") {
    const value = refuseError(entry.sum, readCell(cells, entry.sum), name, refuse);
    return readSigned(cells, column, entry, { column: entry.sum, value }, record, refuse);
  }
  const value = readTextEntry(cells, entry, name, refuse);
  if (value === undefined) return undefined;
  const from = entry.from === "join" ? entry.join.join(", ") : entry.column;
  return spec.kind === "number"
    ? readSigned(cells, column, entry, { column: from, value }, record, refuse)
    : toKind(column, from, value, refuse);
};
