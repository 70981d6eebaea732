import { isRecord } from "../../src/kit/json.ts";

type Schema = Record<string, unknown>;

/** The fields of an output by their paths, such as `data[].amount`, with whether each is always there. */
export type OutputFields = Map<string, boolean>;

const isList = (value: unknown): value is unknown[] => Array.isArray(value);

/** A schema in an OpenAPI document, found by its reference. */
const resolve = (document: Schema, schema: unknown): Schema => {
  if (!isRecord(schema)) return {};
  const { $ref: reference } = schema;
  if (typeof reference !== "string") return schema;
  let found: unknown = document;
  for (const name of reference.split("/").slice(1)) found = isRecord(found) ? found[name] : {};
  return resolve(document, found);
};

/** Joins the fields of several schemas, of which an output has any one. */
const joinVariants = (variants: readonly OutputFields[]): OutputFields => {
  const joined: OutputFields = new Map();
  for (const [path, isRequired] of variants.flatMap((fields) => [...fields])) {
    joined.set(path, (joined.get(path) ?? true) && isRequired);
  }
  return joined;
};

/** Lists the fields of a schema. A nested field is required if it is so wherever its parent is. */
const listFields = (document: Schema, schema: unknown, path: string): OutputFields => {
  const { properties, required, items, ...rest } = resolve(document, schema);
  const variants = [rest["anyOf"], rest["oneOf"], rest["allOf"]].filter(isList).flat();
  const fields = joinVariants(variants.map((one) => listFields(document, one, path)));
  if (items !== undefined) {
    for (const one of listFields(document, items, `${path}[]`)) fields.set(...one);
  }
  for (const [name, property] of Object.entries(isRecord(properties) ? properties : {})) {
    const inner = path === "" ? name : `${path}.${name}`;
    fields.set(inner, isList(required) && required.includes(name));
    for (const one of listFields(document, property, inner)) fields.set(...one);
  }
  return fields;
};

/** The output fields of each operation in an OpenAPI document, by operation id. */
export const listOutputs = (document: { paths: object }): Map<string, OutputFields> => {
  const whole = document as unknown as Schema;
  const outputs = new Map<string, OutputFields>();
  for (const path of Object.values(document.paths)) {
    for (const operation of Object.values(path as Schema)) {
      if (!isRecord(operation) || typeof operation["operationId"] !== "string") continue;
      const responses = Object.entries(operation["responses"] as Schema);
      const success = responses.find(([status]) => status.startsWith("2"))?.[1];
      const { content } = resolve(whole, success);
      const json = isRecord(content) ? content["application/json"] : undefined;
      const schema = isRecord(json) ? json["schema"] : {};
      outputs.set(operation["operationId"], listFields(whole, schema, ""));
    }
  }
  return outputs;
};

const OPTIONAL = "?";

/** Writes fields as one text: `?` follows optional ones. */
export const formatFields = (fields: OutputFields): string =>
  [...fields].map(([path, isRequired]) => (isRequired ? path : `${path}${OPTIONAL}`)).join(" ");

/** Reads fields from the text that {@link formatFields} writes. */
export const parseFields = (text: string): OutputFields =>
  new Map(
    text
      .split(" ")
      .filter((path) => path !== "")
      .map((path) => (path.endsWith(OPTIONAL) ? [path.slice(0, -1), false] : [path, true])),
  );
