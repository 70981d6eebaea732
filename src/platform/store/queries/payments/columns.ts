import { CATALOGUE, type Source } from "../../../../contract/payments/catalogue.ts";
import type { Field } from "../../../../contract/payments/field.ts";
import { formatAmount } from "../../../money.ts";
import type { Value } from "../../engine/dialect.ts";
import { fold } from "../../engine/fold.ts";
import type { PaymentTables } from "../../tables/schema.ts";

export const TABLES = {
  cashapp: "cashapp_payments",
  iandp: "iandp_payments",
  bpn: "bpn_payments",
} as const satisfies Record<Source, keyof PaymentTables>;

/**
 * The storage of a field. A decimal is exact text, with a double in a second column for comparisons; folded text has a
 * second column in lower case.
 */
type Storage = "text" | "folded" | "decimal" | "integer" | "flag";

const STORAGE: Record<Field["type"], Storage> = {
  string: "folded",
  enum: "text",
  money: "decimal",
  number: "decimal",
  integer: "integer",
  boolean: "flag",
  date: "text",
  // In UTC with milliseconds, as responses contain them: text order is time order.
  datetime: "text",
};

export type Column = {
  field: Field;
  name: string;
  storage: Storage;
  /** The column that filters compare. */
  compared: string;
};

const toSnakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Tenant ids are lower case, so they need no folded column. */
const toColumn = (field: Field): Column => {
  const name = toSnakeCase(field.name);
  const storage = name === "tenant_id" ? "text" : STORAGE[field.type];
  const second: Partial<Record<Storage, string>> = {
    folded: `${name}_folded`,
    decimal: `${name}_order`,
  };
  return { field, name, storage, compared: second[storage] ?? name };
};

const known = new Map<Field, Column>(
  Object.values(CATALOGUE).flatMap(({ fields }) =>
    fields.map((field): [Field, Column] => [field, toColumn(field)]),
  ),
);

export const findColumn = (field: Field): Column => known.get(field) ?? toColumn(field);

const COLUMNS: Readonly<Record<Source, readonly Column[]>> = {
  cashapp: CATALOGUE.cashapp.fields.map(findColumn),
  iandp: CATALOGUE.iandp.fields.map(findColumn),
  bpn: CATALOGUE.bpn.fields.map(findColumn),
};

/** Returns the columns of a source in the order of the catalogue. */
export const listColumns = (source: Source): readonly Column[] => COLUMNS[source];

/** Returns the JSON text before the value of a column's member. */
export const openMember = ({ field }: Column, place: number): string =>
  `${place === 0 ? "{" : ","}${JSON.stringify(field.name)}:`;

/** Sets the values of a field's columns in a row. */
export const setStoredValues = (
  row: Record<string, Value>,
  { name, storage, compared }: Column,
  value: unknown,
): void => {
  if (value === undefined || value === null) {
    row[name] = null;
    row[compared] = null;
  } else if (storage === "flag") {
    row[name] = value === true ? 1 : 0;
  } else if (storage === "decimal") {
    const number = Number(value);
    row[name] = formatAmount(number);
    row[compared] = number;
  } else if (storage === "integer") {
    row[name] = Number(value);
  } else {
    const text = String(value);
    row[name] = text;
    if (storage === "folded") row[compared] = fold(text);
  }
};

/** Returns the values of a stored row by the names of the fields, without nulls. */
export const readStoredValues = (
  source: Source,
  row: Readonly<Record<string, unknown>>,
): Record<string, unknown> => {
  const values: Record<string, unknown> = {};
  for (const { field, name, storage } of listColumns(source)) {
    const value = row[name];
    if (value === null || value === undefined) continue;
    if (storage === "flag") values[field.name] = Number(value) === 1;
    else values[field.name] = storage === "text" || storage === "folded" ? value : Number(value);
  }
  return values;
};
