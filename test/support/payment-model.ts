import { CATALOGUE, type Source } from "../../src/contract/payments/catalogue.ts";
import type { Field } from "../../src/contract/payments/field.ts";

/** The expected result of a query, computed row by row without a database, from the interface documents. */
export type Row = Record<string, unknown>;

type Conditions = Record<string, unknown>;

const folded = (value: unknown): string => String(value).normalize("NFC").toLowerCase();
const comparable = (value: unknown): number | string => value as number | string;

const OPERATIONS: Record<string, (value: unknown, asked: unknown) => boolean> = {
  eq: (value, asked) => value === asked,
  ne: (value, asked) => value !== asked,
  in: (value, asked) => (asked as unknown[]).includes(value),
  nin: (value, asked) => !(asked as unknown[]).includes(value),
  gt: (value, asked) => comparable(value) > comparable(asked),
  gte: (value, asked) => comparable(value) >= comparable(asked),
  lt: (value, asked) => comparable(value) < comparable(asked),
  lte: (value, asked) => comparable(value) <= comparable(asked),
  between: (value, asked) => {
    const [from, to] = asked as unknown[];
    return comparable(value) >= comparable(from) && comparable(value) <= comparable(to);
  },
  contains: (value, asked) => folded(value).includes(folded(asked)),
  startsWith: (value, asked) => folded(value).startsWith(folded(asked)),
  endsWith: (value, asked) => folded(value).endsWith(folded(asked)),
};

const meets = (value: unknown, operator: string, asked: unknown): boolean => {
  const isEmpty = value === undefined || value === null;
  if (operator === "isNull") return isEmpty === asked;
  return !isEmpty && OPERATIONS[operator]?.(value, asked) === true;
};

/** Whether a row is one that the filters keep. */
export const kept = (row: Row, filters: Conditions): boolean =>
  Object.entries(filters).every(([name, asked]) => {
    if (name === "and") return (asked as Conditions[]).every((part) => kept(row, part));
    if (name === "or") return (asked as Conditions[]).some((part) => kept(row, part));
    if (name === "not") return !kept(row, asked as Conditions);
    return Object.entries(asked as Row).every(([operator, value]) =>
      meets(row[name], operator, value),
    );
  });

/** A row as it is answered with these fields. */
export const answered = (row: Row, fields: readonly Field[]): Row =>
  Object.fromEntries(fields.map(({ name }) => [name, row[name] ?? null]));

export const coreOf = (source: Source): Field[] =>
  CATALOGUE[source].fields.filter(({ core }) => core);
