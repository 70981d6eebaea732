import { z } from "zod";
import { CreditApplication } from "../../contract/operations/credit-applications.ts";
import { ClosureFields } from "../../contract/operations/documents.ts";
import { DisputeStatus, NoteVisibility } from "../../contract/fields.ts";
import { mergeArguments, type Operation, parsePathParameters } from "../../contract/operation.ts";
import {
  type InsightTool,
  isInsightTool,
  type OperationTool,
  type Tool,
} from "../../../tools/tool.ts";
import {
  addedParameterDescriptions,
  parameterDescriptions,
} from "../../../tools/parameter-descriptions.ts";
import { isExportList } from "../results/pages.ts";
import { isCreating, isPaged, isUpdate, mayAsk } from "./kinds.ts";

/** The plain part of JSON Schema 2020-12 that every host understands: no references, unions or keywords with `$`. */
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

// The documents enumerate these alone; another platform may know further values of the rest.
const CLOSED = new Set<unknown>([
  NoteVisibility,
  DisputeStatus,
  ClosureFields.shape.closure_reason,
]);

const listed = (values: readonly unknown[]): string =>
  values.length < 2
    ? String(values[0])
    : `${values.slice(0, -1).map(String).join(", ")} or ${String(values.at(-1))}`;

const openEnum = (zodSchema: unknown, jsonSchema: JsonSchema) => {
  if (!(zodSchema instanceof z.ZodEnum) || CLOSED.has(zodSchema)) return;
  jsonSchema.description ??= listed(jsonSchema.enum ?? []);
  delete jsonSchema.enum;
};

type Raw = JsonSchema & { anyOf?: Raw[] };

/** `own`: the enumerations are this server's own, so no platform knows further values. */
const raw = (schema: z.ZodType, own = false): Raw =>
  z.toJSONSchema(schema, {
    io: "input",
    override({ zodSchema, jsonSchema }) {
      if (!own) openEnum(zodSchema, jsonSchema as JsonSchema);
      oneKind(jsonSchema as JsonSchema);
    },
  }) as Raw;

const typesOf = ({ type, anyOf = [] }: Raw): string[] => [
  ...new Set([type ?? [], anyOf.flatMap(typesOf)].flat()),
];

/** `anyOf [X, null]` as X with the further type null; of `anyOf [X, Y]` what the types have in common with X. */
const withoutUnion = (schema: Raw): JsonSchema => {
  const { anyOf, ...rest } = schema;
  const others = anyOf?.filter(({ type }) => type !== "null") ?? [];
  // Of "one or a list" the list: a single value is accepted where a list is expected.
  const list = others.length > 1 ? others.find(({ type }) => type === "array") : undefined;
  if (list !== undefined) return { ...list, ...rest };
  const [other] = others;
  return other === undefined ? rest : { ...other, ...rest, type: typesOf(schema) };
};

/** Of an enumeration of words and numbers the words: every host takes those, and the platform takes both. */
const oneKind = (schema: Raw): void => {
  const words = schema.enum?.filter((value) => typeof value === "string") ?? [];
  if (schema.type !== undefined || words.length === 0) return;
  schema.type = "string";
  schema.enum = words;
};

// The platform understands it; requests spell it timeZone, and one spelling is enough.
const UNLISTED = new Set(["timezone"]);

type Change = (schema: JsonSchema, name: string) => JsonSchema;

const mapped = (
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

/** An argument as tools publish it; lengths and patterns are checked but cost too much to list. */
const published = (source: Raw, name: string, clears: boolean): JsonSchema => {
  const schema = withoutUnion(source);
  const description =
    schema.description ?? schema.items?.description ?? parameterDescriptions[name];
  const hasNull = schema.enum === undefined && (clears || description?.includes("null") === true);
  const types = [schema.type ?? "string"].flat().filter((type) => hasNull || type !== "null");
  return {
    type: types.length === 1 ? (types[0] ?? "string") : types,
    ...(schema.enum === undefined ? {} : { enum: schema.enum }),
    ...(isBound(schema.maximum) ? { maximum: schema.maximum } : {}),
    ...(schema.items === undefined ? {} : { items: item(schema.items) }),
    ...(schema.properties === undefined
      ? {}
      : { properties: mapped(schema.properties, argument), additionalProperties: false as const }),
    ...(description === undefined ? {} : { description }),
  };
};

// Null says something of its own where it clears, and where the words say so; elsewhere it is as good as absent.
const argument: Change = (schema, name) => published(schema, name, false);
const clearing: Change = (schema, name) => published(schema, name, true);

const item = (schema: JsonSchema): JsonSchema => {
  const { description: _said, ...rest } = argument(schema, "");
  return rest;
};

const text = (description: string): JsonSchema => ({ type: "string", description });

const extras = (tool: OperationTool): Record<string, JsonSchema> => ({
  ...(isPaged(tool.operation)
    ? {
        cursor: text(
          isExportList(tool.operation)
            ? addedParameterDescriptions.auditCursor
            : addedParameterDescriptions.cursor,
        ),
      }
    : {}),
  ...(isCreating(tool.operation)
    ? { idempotencyKey: text(addedParameterDescriptions.idempotencyKey) }
    : {}),
  ...(isUpdate(tool.operation) ? { ifMatch: text(addedParameterDescriptions.ifMatch) } : {}),
  ...(mayAsk(tool)
    ? { confirmationToken: text(addedParameterDescriptions.confirmationToken) }
    : {}),
});

/** The operation's arguments that a model may give, as the contract checks them. */
export const ownShape = (operation: Operation): Record<string, z.ZodType> => {
  if (operation.effect === "session") return {};
  const shape = mergeArguments(operation);
  return Object.fromEntries(
    Object.entries(shape).filter(([name]) => !(WITHHELD as readonly string[]).includes(name)),
  );
};

const strictObject = (
  properties: Record<string, JsonSchema>,
  required: string[] = [],
): ObjectSchema => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
  additionalProperties: false,
});

const insightInput = ({ insight }: InsightTool): ObjectSchema => {
  const { properties = {}, required } = raw(insight.input, true);
  return strictObject(mapped(properties, argument), required);
};

export const inputSchema = (tool: Tool): ObjectSchema => {
  if (isInsightTool(tool)) return insightInput(tool);
  const { properties = {}, required } = raw(z.object(ownShape(tool.operation)));
  const change = tool.operation.method === "PATCH" ? clearing : argument;
  return strictObject({ ...mapped(properties, change), ...extras(tool) }, required);
};

/** A field of an answer: its type alone, so that a value of tomorrow never costs the answer of today. */
const field = (source: Raw): JsonSchema => {
  const types = typesOf(source);
  return { type: types.length > 1 ? types : (types[0] ?? "string") };
};

/**
 * A record of an answer by what identifies it. The rest comes too, as documented; but naming every field in every tool
 * would double what each conversation pays for the list.
 */
const record = (schema: z.ZodType): ObjectSchema => {
  const { properties = {} } = raw(schema);
  const named = Object.entries(properties).slice(0, 1);
  return { type: "object", properties: mapped(Object.fromEntries(named), field) };
};

const NULLABLE_TEXT: JsonSchema = { type: ["string", "null"] };

const listSchema = (items: ObjectSchema): ObjectSchema => ({
  type: "object",
  properties: {
    items: { type: "array", items },
    count: { type: "integer" },
    total: { type: ["integer", "null"] },
    truncated: { type: "boolean" },
    nextCursor: NULLABLE_TEXT,
  },
});

const DELETED: ObjectSchema = { type: "object", properties: { deleted: { type: "boolean" } } };

/** The identifiers that an answer without a body repeats. */
export const deletedKeys = (operation: Operation): string[] =>
  parsePathParameters(operation.path).filter((name) => name !== "tenantId");

const exportListSchema = (row: z.ZodType): ObjectSchema => ({
  type: "object",
  properties: {
    data: { type: "array", items: record(row) },
    pagination: {
      type: "object",
      properties: {
        cursor: NULLABLE_TEXT,
        hasMore: { type: "boolean" },
        rowCount: { type: "integer" },
      },
    },
    truncated: { type: "boolean" },
  },
});

const APPLICATIONS: ObjectSchema = {
  type: "object",
  properties: {
    applications: { type: "array", items: record(CreditApplication) },
    applicationStatusSummary: { type: "array", items: { type: "object" } },
    truncated: { type: "boolean" },
    nextCursor: NULLABLE_TEXT,
  },
};

/** A row of a list of the export API. */
const rowOf = (output: z.ZodType): z.ZodType =>
  (output as z.ZodObject<{ data: z.ZodArray }>).shape.data.element as z.ZodType;

const itemField = (source: Raw): JsonSchema => {
  const list = [source, ...(source.anyOf ?? [])].find(({ type }) => type === "array");
  return list === undefined
    ? field(source)
    : { ...field(source), items: field(list.items ?? { type: "object" }) };
};

/** The figures of an insight; its items by the fields that they may have. */
const insightOutput = ({ insight }: InsightTool): ObjectSchema => {
  const { properties = {} } = raw(insight.item);
  const total = {
    currencyCode: NULLABLE_TEXT,
    count: { type: "integer" },
    amount: { type: "number" },
  };
  return {
    type: "object",
    properties: {
      asOf: { type: "string" },
      filter: { type: "object" },
      rowCount: { type: "integer" },
      truncated: { type: "boolean" },
      itemsTotal: { type: "integer" },
      currencyTotals: { type: "array", items: { type: "object", properties: total } },
      notes: { type: "array", items: { type: "string" } },
      items: {
        type: "array",
        items: { type: "object", properties: mapped(properties, itemField) },
      },
    },
  };
};

export const outputSchema = (tool: Tool): ObjectSchema => {
  if (isInsightTool(tool)) return insightOutput(tool);
  const { operation } = tool;
  const { output } = operation;
  if (output === null) return DELETED;
  if (output instanceof z.ZodArray) return listSchema(record(output.element as z.ZodType));
  if (isExportList(operation)) return exportListSchema(rowOf(output));
  if (operation.list?.style === "applications") return APPLICATIONS;
  const schema = record(output);
  if (operation.file) {
    return { ...schema, properties: { ...schema.properties, resourceUri: { type: "string" } } };
  }
  const { returnsSecret } = operation;
  if (returnsSecret === null) return schema;
  const { storedAs } = returnsSecret;
  return { ...schema, properties: { ...schema.properties, [storedAs]: { type: "string" } } };
};
