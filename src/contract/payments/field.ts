import type { Operator } from "./operators.ts";
import { listOperators } from "./operators.ts";

/** What a field holds. Money and numbers are exact decimals, dates days, date-times UTC. */
export type FieldType =
  | "string"
  | "enum"
  | "money"
  | "number"
  | "integer"
  | "boolean"
  | "date"
  | "datetime";

/** One field of a source's rows: the schema, filters, rows and columns are read from it. */
export type Field = {
  name: string;
  type: FieldType;
  description: string;
  /** Answered where the query names no fields. */
  core: boolean;
  nullable: boolean;
  /** An index answers its filters, except for contains, endsWith and negations. */
  indexed: boolean;
  /** The values of an enum. */
  values: readonly string[];
  operators: readonly Operator[];
};

type Traits = { required: boolean; core: boolean; indexed: boolean };

// `!` is never null, `*` core, `+` indexed; the rest is the name.
const MARKED_NAME = /^(!?)(\*?)(\+?)(\w+)$/;

const parseMarks = (marked: string): Traits & { name: string } => {
  const [, required, core, indexed, name = ""] = MARKED_NAME.exec(marked) ?? [];
  return { name, required: required !== "", core: core !== "", indexed: indexed !== "" };
};

const createFieldFactory =
  (type: FieldType) =>
  (marked: string, description: string, values: readonly string[] = []): Field => {
    const { name, required, core, indexed } = parseMarks(marked);
    const nullable = !required;
    return {
      name,
      type,
      description,
      core,
      nullable,
      indexed,
      values,
      operators: listOperators(type, nullable),
    };
  };

export const string = createFieldFactory("string");
export const money = createFieldFactory("money");
export const number = createFieldFactory("number");
export const integer = createFieldFactory("integer");
export const boolean = createFieldFactory("boolean");
export const date = createFieldFactory("date");
export const datetime = createFieldFactory("datetime");
export const choice = (marked: string, description: string, ...values: string[]): Field =>
  createFieldFactory("enum")(marked, description, values);

const LEADING_FIELDS = [
  string("!*+id", "the row's id"),
  string("!tenantId", "the tenant that the row belongs to"),
];
const TRAILING_FIELDS = [
  datetime("!*createdAt", "when the row was loaded"),
  datetime("!*+updatedAt", "when the row was last changed"),
];

/** A source's own fields among those that every row has. */
export const withCommonFields = (own: readonly Field[]): readonly Field[] => [
  ...LEADING_FIELDS,
  ...own,
  ...TRAILING_FIELDS,
];
