import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { createOpenApi, type OpenApi } from "../../src/contract/openapi.ts";
import type { Operation } from "../../src/contract/operation.ts";
import type { Reply } from "./platform.ts";

type Node = Record<string, unknown>;
type Route = Pick<Operation, "method" | "path">;

export const ABOUT = { headerWord: "Platform", version: "1.2.3" };
export const published: OpenApi = createOpenApi(ABOUT);

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;

/** Resolves a reference. */
export const resolve = (value: unknown): Node => {
  if (!isNode(value)) throw new Error("there is nothing");
  if (typeof value["$ref"] !== "string" || !value["$ref"].startsWith("#/")) return value;
  const steps = value["$ref"].slice(2).split("/");
  return resolve(
    steps.reduce<unknown>((node, step) => (isNode(node) ? node[step] : undefined), published),
  );
};

/** Every reference below a value. */
export const refsIn = (value: unknown): string[] => {
  if (!isNode(value)) return [];
  const own = typeof value["$ref"] === "string" ? [value["$ref"]] : [];
  return [...own, ...Object.values(value).flatMap(refsIn)];
};

/** Readers must allow for new fields; a test must notice those that are not in the document. */
const closed = (value: unknown): unknown => {
  if (!isNode(value)) return value;
  if (Array.isArray(value)) return value.map(closed);
  const whole = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, closed(one)]));
  const isRecord = whole["type"] === "object" && isNode(whole["properties"]);
  return isRecord && whole["additionalProperties"] === undefined
    ? { ...whole, additionalProperties: false }
    : whole;
};

const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });
formats.default(ajv);

const compiled = new Map<string, ValidateFunction>();

// The parts that narrow a refusal name some of its fields alone, so they stay open.
const { schemas, ...rest } = published.components;
ajv.addSchema({ components: { ...rest, schemas: closed(schemas) } }, "document");

const compile = (schema: object): ValidateFunction => {
  const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
  const known = compiled.get(text) ?? ajv.compile(JSON.parse(text) as object);
  compiled.set(text, known);
  return known;
};

export const operationAt = ({ method, path }: Route): Node =>
  resolve(published.paths[path]?.[method.toLowerCase()]);

/** Returns the documented response of a route. */
export const answerAt = (route: Route, status: number): Node | undefined => {
  const answers = operationAt(route)["responses"] as Record<string, unknown>;
  const answer = answers[status];
  return answer === undefined ? undefined : resolve(answer);
};

/** In which ways a value is not what a schema of the document says. */
export const faultsIn = (schema: object, value: unknown): string[] => {
  const validate = compile(schema);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
};

/** In which ways an answer is not what the document says. */
export const faultsOf = (route: Route, reply: Reply): string[] => {
  const answer = answerAt(route, reply.status);
  if (answer === undefined) return [`the status ${reply.status} is not in the document`];
  const content = answer["content"] as Record<string, { schema: object }> | undefined;
  if (content === undefined) return reply.text === "" ? [] : ["there is a body"];
  const type = (reply.headers.get("content-type") ?? "").split(";")[0] ?? "";
  const schema = content[type]?.schema;
  if (schema === undefined) return [`the type ${type} is not in the document`];
  return faultsIn(schema, reply.body);
};

/** Headers that every HTTP response may have. */
const COMMON = [
  "cache-control",
  "content-security-policy",
  "content-type",
  "referrer-policy",
  "x-content-type-options",
];

/** The headers of an answer that its route's documentation does not name. */
export const unnamedHeaders = (route: Route, reply: Reply): string[] => {
  const named = Object.keys(answerAt(route, reply.status)?.["headers"] ?? {});
  const known = [...COMMON, ...named.map((name) => name.toLowerCase())];
  return [...reply.headers.keys()].filter((name) => !known.includes(name));
};
