import { z } from "zod";
import { contract } from "../contract/index.ts";
import { AuditEntry } from "../contract/operations/audit-logs.ts";
import { DisputeStatus, NoteVisibility } from "../contract/fields.ts";
import { argumentShape, isList, type Operation, pathParameters } from "../contract/operation.ts";
import type { Tool } from "../../tools/tool.ts";
import { added, words } from "../../tools/words.ts";
import { asks, isAuditLog, isCreating, isUpdate } from "./kinds.ts";

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
const CLOSED = new Set<unknown>([NoteVisibility, DisputeStatus]);

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

const raw = (schema: z.ZodType): Raw =>
  z.toJSONSchema(schema, {
    io: "input",
    override: ({ zodSchema, jsonSchema }) => openEnum(zodSchema, jsonSchema as JsonSchema),
  }) as Raw;

/** `anyOf [X, null]` as X with the further type null. */
const withoutUnion = ({ anyOf, ...schema }: Raw): JsonSchema => {
  const other = anyOf?.find((one) => one.type !== "null");
  if (other?.type === undefined) return schema;
  return { ...other, ...schema, type: [other.type, "null"].flat() };
};

// The platform understands it; requests spell it timeZone, and one spelling is enough.
const UNLISTED = new Set(["timezone"]);

const mapped = (
  properties: Record<string, JsonSchema>,
  change: (schema: JsonSchema, name: string) => JsonSchema,
): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => !UNLISTED.has(name))
      .map(([name, schema]) => [name, change(schema, name)]),
  );

const isBound = (limit: number | undefined): limit is number =>
  limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER;

/** An argument as tools publish it; lengths and patterns are checked but cost too much to list. */
const argument = (source: Raw, name: string): JsonSchema => {
  const schema = withoutUnion(source);
  const description = schema.description ?? schema.items?.description ?? words[name];
  const nullMatters = description?.includes("null") === true;
  const types = [schema.type ?? "string"].flat().filter((type) => nullMatters || type !== "null");
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

const item = (schema: JsonSchema): JsonSchema => {
  const { description: _said, ...rest } = argument(schema, "");
  return rest;
};

const text = (description: string): JsonSchema => ({ type: "string", description });

const extras = (tool: Tool): Record<string, JsonSchema> => ({
  ...(isAuditLog(tool.operation) ? { cursor: text(added.auditCursor) } : {}),
  ...(isList(tool.operation) ? { cursor: text(added.cursor) } : {}),
  ...(isCreating(tool.operation) ? { idempotencyKey: text(added.idempotencyKey) } : {}),
  ...(isUpdate(tool.operation) ? { ifMatch: text(added.ifMatch) } : {}),
  ...(asks(tool) ? { confirmationToken: text(added.confirmationToken) } : {}),
});

/** The operation's arguments that a model may give, as the contract checks them. */
export const ownShape = (operation: Operation): Record<string, z.ZodType> => {
  if (operation.effect === "session") return {};
  const shape = argumentShape(operation);
  return Object.fromEntries(
    Object.entries(shape).filter(([name]) => !(WITHHELD as readonly string[]).includes(name)),
  );
};

export const inputSchema = (tool: Tool): ObjectSchema => {
  const { properties = {}, required = [] } = raw(z.object(ownShape(tool.operation)));
  return {
    type: "object",
    properties: { ...mapped(properties, argument), ...extras(tool) },
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
};

/** A field of an answer: its type alone, so that a value of tomorrow never costs the answer of today. */
const field = (source: Raw): JsonSchema => ({ type: withoutUnion(source).type ?? "string" });

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
  pathParameters(operation.path).filter((name) => name !== "tenantId");

const auditLogSchema = (entry: z.ZodType): ObjectSchema => ({
  type: "object",
  properties: {
    data: { type: "array", items: record(entry) },
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

export const outputSchema = ({ operation }: Tool): ObjectSchema => {
  const { output } = operation;
  if (output === null) return DELETED;
  if (output instanceof z.ZodArray) return listSchema(record(output.element as z.ZodType));
  if (isAuditLog(operation)) return auditLogSchema(AuditEntry);
  const schema = record(output);
  if (operation.id !== contract.api_keys.create.id) return schema;
  return { ...schema, properties: { ...schema.properties, storedAs: { type: "string" } } };
};
