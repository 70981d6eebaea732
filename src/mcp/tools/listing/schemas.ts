import { z } from "zod";
import { ClosureFields } from "../../../contract/operations/documents.ts";
import { DisputeStatus, NoteVisibility, shownProperties } from "../../../contract/fields.ts";
import { DISPUTE_STATUSES } from "../../../contract/insights/dispute-filters.ts";
import { mergeArguments, type Operation } from "../../../contract/operation.ts";
import {
  type InsightTool,
  isInsightTool,
  type OperationTool,
  type Tool,
} from "../../../../tools/tool.ts";
import { describeAccepted } from "../../../../tools/record-names.ts";
import { SAVED_FORMATS } from "../../results/saved-files.ts";
import { isCreating, isPaged, mayAsk, takesFields, takesSave } from "./kinds.ts";

/** The part of JSON Schema 2020-12 that every host understands: no references, unions or keywords with `$`. */
export type JsonSchema = {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: false;
  minimum?: number;
  maximum?: number;
};
export type ObjectSchema = JsonSchema & {
  type: "object";
  properties: Record<string, JsonSchema>;
};

/** Supplied by the broker, never by a model. */
export const WITHHELD = ["tenantId", "password", "accessToken"] as const;

// The interface documents enumerate only these; another platform may know further values of the others.
const CLOSED = [NoteVisibility, ClosureFields.shape.closure_reason];

/** Whether a schema is another one, or a copy of it that bounds the faults of a list. */
const isOrCopies = (schema: z.core.$ZodType, other: z.ZodType): boolean =>
  schema === other || schema._zod.parent === other;

/** Whether values of a schema are a dispute's status. */
export const isStatus = ({ enum: words }: JsonSchema): boolean =>
  words?.join() === DISPUTE_STATUSES.join();

/** Publishes the words of a status. Its numbers are accepted too. */
const nameStatus = (zodSchema: z.core.$ZodType, jsonSchema: JsonSchema): void => {
  if (!isOrCopies(zodSchema, DisputeStatus)) return;
  jsonSchema.type = "string";
  jsonSchema.enum = [...DISPUTE_STATUSES];
  delete jsonSchema.description;
};

const joinWords = (values: readonly unknown[]): string =>
  values.length < 2
    ? String(values[0])
    : `${values.slice(0, -1).map(String).join(", ")} or ${String(values.at(-1))}`;

const openEnum = (zodSchema: z.core.$ZodType, jsonSchema: JsonSchema) => {
  if (!(zodSchema instanceof z.ZodEnum) || CLOSED.some((one) => isOrCopies(zodSchema, one))) return;
  jsonSchema.description ??= joinWords(jsonSchema.enum ?? []);
  delete jsonSchema.enum;
};

/** `isOpen`: an object with further properties than those that are published. */
export type Raw = JsonSchema & { anyOf?: Raw[]; isOpen?: boolean };

/** Whether an object has no other properties than those of its schema. */
const isClosed = ({ additionalProperties }: JsonSchema): boolean => additionalProperties === false;

/** Publishes the properties that the contract shows of an object with many, or with keys of any name. */
const showProperties = (zodSchema: z.core.$ZodType, schema: Raw): void => {
  const properties = shownProperties.get(zodSchema);
  if (properties !== undefined) Object.assign(schema, { properties, isOpen: true });
};

/** The values that a schema describes: arguments of an operation, arguments of an insight, or a record of the platform. */
type Side = "argument" | "insight" | "record";

/** `isWhole`: has all properties of a closed object, also where tools publish some of them. */
export const toRawSchema = (schema: z.ZodType, side: Side = "record", isWhole = false): Raw =>
  z.toJSONSchema(schema, {
    io: "input",
    override({ zodSchema, jsonSchema }) {
      // Insights are this server's own, so no platform knows further values of their enumerations.
      if (side !== "insight") openEnum(zodSchema, jsonSchema as JsonSchema);
      if (side !== "insight") nameStatus(zodSchema, jsonSchema as JsonSchema);
      oneKind(jsonSchema as JsonSchema);
      const isAll = isWhole && isClosed(jsonSchema as Raw);
      if (side !== "record" && !isAll) showProperties(zodSchema, jsonSchema as Raw);
    },
  }) as Raw;

export const typesOf = ({ type, anyOf = [] }: Raw): string[] => [
  ...new Set([type ?? [], anyOf.flatMap(typesOf)].flat()),
];

/** Replaces `anyOf` by a list of types: `anyOf [X, null]` is X with the additional type null. */
export const withoutUnion = (schema: Raw): JsonSchema => {
  const { anyOf, ...rest } = schema;
  const others = anyOf?.filter(({ type }) => type !== "null") ?? [];
  // Of "one or a list" the list: a single value is accepted where a list is expected.
  const list = others.length > 1 ? others.find(({ type }) => type === "array") : undefined;
  if (list !== undefined) return { ...list, ...rest };
  const [other] = others;
  return other === undefined ? rest : { ...other, ...rest, type: typesOf(schema) };
};

/** Publishes only the words of an enumeration of words and numbers: every host accepts those, the platform both. */
const oneKind = (schema: Raw): void => {
  const words = schema.enum?.filter((value) => typeof value === "string") ?? [];
  if (schema.type !== undefined || words.length === 0) return;
  schema.type = "string";
  schema.enum = words;
};

// The platform accepts timezone and timeZone; tools publish the documented spelling of requests.
const UNLISTED = new Set(["timezone"]);

type Change = (schema: JsonSchema, name: string) => JsonSchema;

const mapProperties = (
  properties: Record<string, JsonSchema>,
  change: Change,
): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => !UNLISTED.has(name))
      .map(([name, schema]) => [name, change(schema, name)]),
  );

const isBound = (limit: number | undefined): limit is number =>
  limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER;

/** Returns the one type that is published. A string can also hold what other types of a union accept. */
const chooseType = (types: readonly string[]): string => {
  const [first = "string", ...others] = types.filter((type) => type !== "null");
  return others.includes("string") ? "string" : first;
};

/** Returns the properties of an object. Some hosts refuse one without properties, so free-form ones name an example. */
const publishObject = (type: string, { properties, isOpen }: Raw, change: Change): JsonSchema => {
  if (properties === undefined) return type === "object" ? { properties: ANY_KEY } : {};
  if (isOpen === true) return { properties };
  return { properties: mapProperties(properties, change), additionalProperties: false };
};

const ANY_KEY: Record<string, JsonSchema> = {
  key: { type: "string", description: "any key" },
};

/**
 * Returns the published schema of an argument. Lengths and patterns are checked, but cost too many tokens to publish.
 * `within`: publishes what a nested object has.
 */
const publish = (source: Raw, name: string, clears: boolean, within: Change): JsonSchema => {
  const schema = withoutUnion(source);
  const words = [describeAccepted(name), schema.description ?? schema.items?.description];
  const description = words.filter((each) => each !== undefined).join("; ");
  const type = chooseType([schema.type ?? "string"].flat());
  const isScalar = type !== "object" && type !== "array" && schema.enum === undefined;
  const hasNull = isScalar && (clears || description.includes("null"));
  return {
    type: hasNull ? [type, "null"] : type,
    ...(schema.enum === undefined ? {} : { enum: schema.enum }),
    ...(isBound(schema.maximum) ? { maximum: schema.maximum } : {}),
    ...(schema.items === undefined ? {} : { items: publishItems(schema.items) }),
    ...publishObject(type, schema, within),
    ...(description === "" ? {} : { description }),
  };
};

// Null is published only where it clears a value; elsewhere it means the same as an absent argument.
const argument: Change = (schema, name) => publish(schema, name, false, argument);

/** Publishes null wherever the schema takes it. */
const clearable: Change = (schema, name) =>
  publish(schema, name, typesOf(schema).includes("null"), clearable);

const publishItems = (schema: JsonSchema): JsonSchema => {
  const { description: _description, ...rest } = argument(schema, "");
  return rest;
};

/** Parameters that tools have beside those of their operation. Each word costs tokens in every session. */
const ownParameters = {
  cursor: "from the answer before; other arguments unchanged",
  fields: '["*"] for all',
  as: "default text",
  pages: "such as 1-3",
  save: "whole result as file",
  idempotencyKey: "a retry with it creates no duplicate",
  clear: "fields to empty",
  ifMatch: "etag that was read; refused if changed since",
  confirmationToken: "from confirmation_required",
} as const;

const ownText = (name: keyof typeof ownParameters): Record<string, JsonSchema> => ({
  [name]: { type: "string", description: ownParameters[name] },
});

const FIELDS: Record<string, JsonSchema> = {
  fields: { type: "array", items: { type: "string" }, description: ownParameters.fields },
};

const CLEAR: Record<string, JsonSchema> = {
  clear: { type: "array", items: { type: "string" }, description: ownParameters.clear },
};

/** Arguments that select the form and pages of a file. */
const FILE: Record<string, JsonSchema> = {
  as: { type: "string", enum: ["text", "file"], description: ownParameters.as },
  ...ownText("pages"),
  ...ownText("cursor"),
};

/** The argument that saves a whole result as a table. */
const SAVE: Record<string, JsonSchema> = {
  save: { type: "string", enum: [...SAVED_FORMATS], description: ownParameters.save },
};

const extras = (tool: OperationTool): Record<string, JsonSchema> => ({
  ...(isPaged(tool.operation) ? ownText("cursor") : {}),
  ...(takesSave(tool) ? SAVE : {}),
  ...(takesFields(tool) ? FIELDS : {}),
  ...(tool.operation.file ? FILE : {}),
  ...(tool.operation.clears ? CLEAR : {}),
  ...(isCreating(tool.operation) ? ownText("idempotencyKey") : {}),
  ...(tool.operation.updates ? ownText("ifMatch") : {}),
  ...(mayAsk(tool) ? ownText("confirmationToken") : {}),
});

/** The operation's arguments that a model may give, as the contract checks them. */
export const ownShape = (operation: Operation): Record<string, z.ZodType> => {
  if (operation.effect === "session") return {};
  const { additions } = operation;
  const added = additions === null || additions.offered === true ? [] : additions.query;
  const withheld: readonly string[] = [...WITHHELD, ...added];
  const shape = mergeArguments(operation);
  return Object.fromEntries(Object.entries(shape).filter(([name]) => !withheld.includes(name)));
};

// The root does not publish additionalProperties: the server refuses unknown arguments itself and names the known ones.
const toRoot = (properties: Record<string, JsonSchema>, required: string[] = []): ObjectSchema => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
});

// The descriptions by name are those of operations.
const insightArgument: Change = (source, name) => {
  const { description: _ofOperations, ...rest } = argument(source, name);
  const description = source.description ?? source.items?.description;
  return description === undefined ? rest : { ...rest, description };
};

const insightInput = ({ insight }: InsightTool): ObjectSchema => {
  const { properties = {}, required } = toRawSchema(insight.input, "insight");
  const own = { ...ownText("cursor"), ...SAVE };
  return toRoot({ ...mapProperties(properties, insightArgument), ...own }, required);
};

// Beyond that many parameters, null as a further type of each exceeds the budget of a tool: `clear` names fields instead.
const MOST_NULLABLE = 30;

/** Returns the schema of a tool's arguments as it is published; `isWhole`: as arguments are read. */
export const inputSchema = (tool: Tool, isWhole = false): ObjectSchema => {
  if (isInsightTool(tool)) return insightInput(tool);
  const { operation } = tool;
  const shape = z.object(ownShape(operation));
  const { properties = {}, required = [] } = toRawSchema(shape, "argument", isWhole);
  const clears = operation.clears && Object.keys(properties).length <= MOST_NULLABLE;
  const within = operation.updates && !operation.clears ? clearable : argument;
  const change: Change = (schema, name) =>
    publish(schema, name, clears && typesOf(schema).includes("null"), within);
  return toRoot({ ...mapProperties(properties, change), ...extras(tool) }, required);
};

/** Beside `save`; the documentation names it, and no schema, where it would cost tokens in every tool. */
const ABOUT_TABLE: Record<string, JsonSchema> = { about: { type: "boolean" } };

/** Returns the schema by which arguments are read: the published one, and what is taken beside it. */
export const acceptedSchema = (tool: Tool): ObjectSchema => {
  const schema = inputSchema(tool, true);
  if (!takesSave(tool)) return schema;
  return { ...schema, properties: { ...schema.properties, ...ABOUT_TABLE } };
};
