import { CATALOGUE, type Source } from "../../../contract/payments/catalogue.ts";
import type { Field } from "../../../contract/payments/field.ts";
import { amountText } from "../../money.ts";
import { fold } from "../fold.ts";
import type { PaymentTables } from "../tables.ts";

export const TABLES = {
  cashapp: "cashapp_payments",
  iandp: "iandp_payments",
  bpn: "bpn_payments",
} as const satisfies Record<Source, keyof PaymentTables>;

export type Value = string | number | null;

/** How a field is kept: exact decimals as text with a double beside it that orders as they do. */
type Kept = "text" | "folded" | "decimal" | "integer" | "flag";

const KEPT: Record<Field["type"], Kept> = {
  string: "folded",
  enum: "text",
  money: "decimal",
  number: "decimal",
  integer: "integer",
  boolean: "flag",
  date: "text",
  // As they are answered, in UTC with milliseconds: a page formats none of them, and they compare as time does.
  datetime: "text",
};

export type Column = {
  field: Field;
  name: string;
  kept: Kept;
  /** What its filters compare. */
  compared: string;
};

const snake = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Ids of tenants are in lower case, so they are folded as they are. */
const columnOf = (field: Field): Column => {
  const name = snake(field.name);
  const kept = name === "tenant_id" ? "text" : KEPT[field.type];
  const beside: Partial<Record<Kept, string>> = {
    folded: `${name}_folded`,
    decimal: `${name}_order`,
  };
  return { field, name, kept, compared: beside[kept] ?? name };
};

const known = new Map<Field, Column>(
  Object.values(CATALOGUE).flatMap(({ fields }) =>
    fields.map((field): [Field, Column] => [field, columnOf(field)]),
  ),
);

export const columnsOf = (source: Source): readonly Column[] =>
  CATALOGUE[source].fields.map(columnFor);

export const columnFor = (field: Field): Column => known.get(field) ?? columnOf(field);

/** What a column and the one beside it hold for a field's value. */
export const storedValue = (
  { name, kept, compared }: Column,
  value: unknown,
): [string, Value][] => {
  if (value === undefined || value === null) {
    return compared === name
      ? [[name, null]]
      : [
          [name, null],
          [compared, null],
        ];
  }
  if (kept === "flag") return [[name, value === true ? 1 : 0]];
  if (kept === "decimal") {
    const number = Number(value);
    return [
      [name, amountText(number)],
      [compared, number],
    ];
  }
  if (kept === "integer") return [[name, Number(value)]];
  const text = String(value);
  return kept === "folded"
    ? [
        [name, text],
        [compared, fold(text)],
      ]
    : [[name, text]];
};
