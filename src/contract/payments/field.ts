import { type FieldType, listOperators, type Operator } from "./operators.ts";

/** A field of a payment source. The published schema, the filters and the store's columns derive from it. */
export type Field = {
  name: string;
  type: FieldType;
  description: string;
  /** Returned when the query names no fields. */
  core: boolean;
  nullable: boolean;
  /** Filters on the field use an index, except contains, endsWith and negations. */
  indexed: boolean;
  /** The values of an enum; empty for other types. */
  values: readonly string[];
  operators: readonly Operator[];
};

type Traits = { required: boolean; core: boolean; indexed: boolean };

// A field name with prefixes: `!` never null, `*` core, `+` indexed.
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

const LEADING_FIELDS = [string("!*+id", "row id"), string("!tenantId", "tenant of the row")];
const TRAILING_FIELDS = [
  datetime("!*createdAt", "time the row was loaded"),
  datetime("!*+updatedAt", "time of the row's last change"),
];

/** Returns a source's own fields together with the fields that every source has. */
export const withCommonFields = (own: readonly Field[]): readonly Field[] => [
  ...LEADING_FIELDS,
  ...own,
  ...TRAILING_FIELDS,
];
