import type { Operator } from "./operators.ts";
import { operatorsOf } from "./operators.ts";

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
const MARKED = /^(!?)(\*?)(\+?)(\w+)$/;

const traits = (marked: string): Traits & { name: string } => {
  const [, required, core, indexed, name = ""] = MARKED.exec(marked) ?? [];
  return { name, required: required !== "", core: core !== "", indexed: indexed !== "" };
};

const field =
  (type: FieldType) =>
  (marked: string, description: string, values: readonly string[] = []): Field => {
    const { name, required, core, indexed } = traits(marked);
    const nullable = !required;
    return {
      name,
      type,
      description,
      core,
      nullable,
      indexed,
      values,
      operators: operatorsOf(type, nullable),
    };
  };

export const string = field("string");
export const money = field("money");
export const number = field("number");
export const integer = field("integer");
export const boolean = field("boolean");
export const date = field("date");
export const datetime = field("datetime");
export const choice = (marked: string, description: string, ...values: string[]): Field =>
  field("enum")(marked, description, values);

const FIRST = [
  string("!*+id", "the row's id"),
  string("!tenantId", "the tenant that the row belongs to"),
];
const LAST = [
  datetime("!*createdAt", "when the row was loaded"),
  datetime("!*+updatedAt", "when the row was last changed"),
];

/** A source's own fields among those that every row has. */
export const withCommon = (own: readonly Field[]): readonly Field[] => [...FIRST, ...own, ...LAST];
