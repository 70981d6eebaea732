/** Types of payment fields. Money and numbers are exact decimals, dates have no time, date-times are UTC. */
export const FIELD_TYPES = [
  "string",
  "enum",
  "money",
  "number",
  "integer",
  "boolean",
  "date",
  "datetime",
] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** The filter operators with their meanings. */
export const OPERATORS = {
  eq: "equals the value",
  ne: "differs from the value; does not match null",
  in: "equals one of the values in the list",
  nin: "equals none of the values in the list; does not match null",
  gt: "is greater or later",
  gte: "is greater, later or equal",
  lt: "is less or earlier",
  lte: "is less, earlier or equal",
  between: "is between the two values in the list, inclusive",
  contains: "contains the text, ignoring case",
  startsWith: "starts with the text, ignoring case",
  endsWith: "ends with the text, ignoring case",
  isNull: "true: has no value; false: has a value",
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

/** Returns the operators that a field of the type accepts. */
export const listOperators = (type: FieldType, nullable: boolean): readonly Operator[] =>
  nullable ? [...OPERATORS_BY_TYPE[type], "isNull"] : OPERATORS_BY_TYPE[type];

/** Operator names of other query languages, with their equivalents; used in error messages. */
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
