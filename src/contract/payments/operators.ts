import type { FieldType } from "./field.ts";

/** Every condition there is, and what it asks of a field. */
export const OPERATORS = {
  eq: "is the value",
  ne: "is another value; null is none",
  in: "is one of the values in the list",
  nin: "is none of the values in the list; null is none",
  gt: "is greater or later",
  gte: "is greater, later or the same",
  lt: "is less or earlier",
  lte: "is less, earlier or the same",
  between: "lies between the two values in the list, both included",
  contains: "has the text in it, in any case",
  startsWith: "starts with the text, in any case",
  endsWith: "ends with the text, in any case",
  isNull: "true: has no value; false: has one",
} as const;

export type Operator = keyof typeof OPERATORS;

export const OPERATOR_NAMES = Object.keys(OPERATORS) as Operator[];

const EQUALITY: Operator[] = ["eq", "ne", "in", "nin"];
const ORDERING: Operator[] = [...EQUALITY, "gt", "gte", "lt", "lte", "between"];

const OPERATORS_BY_TYPE: Record<FieldType, Operator[]> = {
  string: [...EQUALITY, "contains", "startsWith", "endsWith"],
  enum: EQUALITY,
  money: ORDERING,
  number: ORDERING,
  integer: ORDERING,
  date: ORDERING,
  datetime: ORDERING,
  boolean: ["eq", "ne"],
};

/** The conditions that a field of the type takes. */
export const listOperators = (type: FieldType, nullable: boolean): readonly Operator[] =>
  nullable ? [...OPERATORS_BY_TYPE[type], "isNull"] : OPERATORS_BY_TYPE[type];

/** Words of other query languages, and what they are called here. */
export const OPERATOR_SYNONYMS: Readonly<Record<string, Operator>> = {
  "=": "eq",
  "==": "eq",
  equals: "eq",
  is: "eq",
  "!=": "ne",
  "<>": "ne",
  neq: "ne",
  not: "ne",
  ">": "gt",
  greaterThan: "gt",
  after: "gt",
  ">=": "gte",
  ge: "gte",
  min: "gte",
  from: "gte",
  since: "gte",
  "<": "lt",
  lessThan: "lt",
  before: "lt",
  "<=": "lte",
  le: "lte",
  max: "lte",
  to: "lte",
  until: "lte",
  range: "between",
  oneOf: "in",
  anyOf: "in",
  noneOf: "nin",
  notIn: "nin",
  like: "contains",
  ilike: "contains",
  search: "contains",
  prefix: "startsWith",
  beginsWith: "startsWith",
  suffix: "endsWith",
  null: "isNull",
  exists: "isNull",
};
