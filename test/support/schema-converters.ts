import type { JsonSchema } from "../../src/mcp/tools/listing/schemas.ts";
import type { ListedTool } from "../../src/mcp/tools/listing/every-tool.ts";

/** The rules by which hosts convert a tool for their models. Each returns what it refuses, with its place. */
type Rule = (tool: ListedTool) => string[];

type Node = JsonSchema & Record<string, unknown>;
type Visit = (node: Node, path: string) => string[];

const visitAll = (schema: JsonSchema, visit: Visit, path = ""): string[] => [
  ...visit(schema, path),
  ...Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    visitAll(child, visit, `${path}.${name}`),
  ),
  ...(schema.items === undefined ? [] : visitAll(schema.items, visit, `${path}[]`)),
];

const typesOf = ({ type = [] }: JsonSchema): string[] => [type].flat();

const refuse = (path: string, checks: Record<string, boolean>): string[] =>
  Object.entries(checks).flatMap(([message, isRefused]) =>
    isRefused ? [`${path} ${message}`] : [],
  );

const UNIONS = ["anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "$schema"];

/** Messages API: an object as root without unions, and plain names of properties. */
const anthropic: Rule = ({ name, inputSchema }) => [
  ...refuse(name, {
    "is no tool name": !/^[a-zA-Z0-9_-]{1,64}$/.test(name),
    "has no object as root": inputSchema.type !== "object",
    "has a union as root": UNIONS.some((keyword) => keyword in inputSchema),
  }),
  ...visitAll(inputSchema, ({ properties = {} }, path) =>
    Object.keys(properties)
      .filter((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key))
      .map((key) => `${path} has the key ${key}`),
  ),
];

const MAX_DESCRIPTION = 1024;

/** Function calling: properties of the root, items of arrays, a description of at most 1,024 characters. */
const openai: Rule = ({ name, description, inputSchema }) => [
  ...refuse(name, {
    "is no function name": !/^[a-zA-Z0-9_-]{1,64}$/.test(name),
    "has a long description": description.length > MAX_DESCRIPTION,
    "has no properties": inputSchema.properties === undefined,
  }),
  ...visitAll(inputSchema, (node, path) =>
    refuse(path, {
      "is an array without items": node.type === "array" && node.items === undefined,
    }),
  ),
];

const isFreeForm = ({ type, additionalProperties }: JsonSchema): boolean =>
  type === "object" && additionalProperties !== false;

/** Whether all arguments of a tool are named, as strict function calling requires. */
export const canBeStrict = ({ inputSchema }: ListedTool): boolean =>
  visitAll(inputSchema, (node, path) => (path !== "" && isFreeForm(node) ? [path] : [])).length ===
  0;

/** Requires every property and makes the optional ones nullable. */
const toStrict = (schema: JsonSchema): JsonSchema => {
  const { properties, required = [], items } = schema;
  if (items !== undefined) return { ...schema, items: toStrict(items) };
  if (properties === undefined) return schema;
  const entries = Object.entries(properties).map(([name, child]) => {
    const strict = toStrict(child);
    const isOptional = !required.includes(name);
    const types = [...new Set([...typesOf(strict), ...(isOptional ? ["null"] : [])])];
    return [name, { ...strict, type: types }] as const;
  });
  return {
    ...schema,
    properties: Object.fromEntries(entries),
    required: Object.keys(properties),
    additionalProperties: false,
  };
};

const STRICT = ["type", "description", "enum", "properties", "required", "items", "maximum"];
const MAX_LEVELS = 10;

/** Strict function calling: few keywords, every property required, at most ten levels. */
const openaiStrict: Rule = (tool) =>
  canBeStrict(tool)
    ? visitAll(toStrict(tool.inputSchema), (node, path) => [
        ...Object.keys(node)
          .filter((key) => ![...STRICT, "minimum", "additionalProperties"].includes(key))
          .map((key) => `${path} has ${key}`),
        ...refuse(path, { "is too deep": path.split(/\.|\[/).length > MAX_LEVELS }),
      ])
    : [];

const FORMATS = ["enum", "date-time", "float", "double", "int32", "int64"];

/** The `parameters` form: one type that may be nullable, enumerations of strings, objects that are not empty. */
const googleParameters: Rule = ({ name, inputSchema }) => [
  ...refuse(name, { "is no function name": !/^[a-zA-Z_][\w.:-]{0,63}$/.test(name) }),
  ...visitAll(inputSchema, (node, path) => {
    const types = typesOf(node);
    const type = types.find((one) => one !== "null");
    const { properties = {}, required = [], format } = node;
    return refuse(path, {
      "has several types": types.filter((one) => one !== "null").length !== 1,
      "is a nullable object or list": types.length > 1 && ["object", "array"].includes(type ?? ""),
      "has an enumeration of other values": node.enum !== undefined && node.type !== "string",
      "has an empty enumeration": node.enum?.some((value) => value === "") === true,
      "is an object without properties":
        type === "object" && path !== "" && Object.keys(properties).length === 0,
      "requires what it does not have": required.some((key) => !Object.hasOwn(properties, key)),
      "is an array without items": type === "array" && node.items === undefined,
      "has an unknown format": typeof format === "string" && !FORMATS.includes(format),
      "has properties but is no object": type !== "object" && node.properties !== undefined,
    });
  }),
];

const GOOGLE_KEYWORDS = [
  "type",
  "format",
  "title",
  "description",
  "enum",
  "items",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "anyOf",
  "properties",
  "additionalProperties",
  "required",
];

/** The `parametersJsonSchema` form: a subset of the keywords. */
const googleJsonSchema: Rule = ({ inputSchema }) =>
  visitAll(inputSchema, (node, path) =>
    Object.keys(node)
      .filter((key) => !GOOGLE_KEYWORDS.includes(key))
      .map((key) => `${path} has ${key}`),
  );

const UNSUPPORTED = ["minLength", "maxLength", "pattern", "default", "format", "$comment"];

/** The editor's check of a tool before it sends it to any model. */
const vsCode: Rule = ({ name, description, inputSchema }) => [
  ...refuse(name, {
    "is no tool name": !/^[\w-]{1,64}$/.test(name),
    "has no description": description === "",
  }),
  ...visitAll(inputSchema, (node, path) =>
    refuse(path, {
      "is an array without items": node.type === "array" && node.items === undefined,
      "has no type": typesOf(node).length === 0,
      "has an unsupported keyword": UNSUPPORTED.some((key) => key in node),
    }),
  ),
];

export const RULES: Readonly<Record<string, Rule>> = {
  "the Messages API": anthropic,
  "function calling": openai,
  "strict function calling": openaiStrict,
  "Gemini's parameters": googleParameters,
  "Gemini's JSON Schema": googleJsonSchema,
  "the editor": vsCode,
};
