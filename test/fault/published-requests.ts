import { platformOperations } from "../../src/contract/index.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { published, refsIn, resolve } from "../support/published.ts";
import { type Arguments, SAMPLES } from "../support/samples.ts";
import type { Records } from "../support/records.ts";
import type { Shape } from "./recipes.ts";
import type { Schema } from "./values.ts";

type Node = Record<string, unknown>;
type Parameter = { name: string; in: string; schema: Schema; example?: unknown };
type Media = { schema: Schema; example?: Arguments };

/** One route of the published document. */
export type PublishedRoute = {
  operation: Operation;
  route: { method: string; path: string };
  shape: Shape;
  /** The type of the body; undefined if there is none. */
  type: string | undefined;
  /** The arguments of the document's example. */
  example: Arguments;
  /** The header of the credential. */
  security: string | undefined;
};

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;

/** A schema without references. */
const inlined = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inlined);
  if (!isNode(value)) return value;
  if (refsIn(value).length === 0) return value;
  const whole = typeof value["$ref"] === "string" ? resolve(value) : value;
  return Object.fromEntries(Object.entries(whole).map(([key, one]) => [key, inlined(one)]));
};

const securityOf = (node: Node): string | undefined => {
  const [first = {}] = node["security"] as object[];
  const [name] = Object.keys(first);
  const schemes = published.components.securitySchemes as Record<string, { name: string }>;
  return name === undefined ? undefined : schemes[name]?.name;
};

const readRoute = (path: string, method: string, node: Node): PublishedRoute[] => {
  const id = String(node["operationId"]);
  const operation = platformOperations.find((one) => one.id === id.replace(/\.(?:get|post)$/, ""));
  // Routes about the service itself, and signed URLs.
  if (operation === undefined) return [];
  const parameters = ((node["parameters"] ?? []) as unknown[]).map(
    (one) => inlined(resolve(one)) as Parameter,
  );
  const content = node["requestBody"] === undefined ? {} : resolve(node["requestBody"])["content"];
  const [[type, media] = []] = Object.entries(content as Record<string, Media>);
  const schema = media === undefined ? undefined : (inlined(media.schema) as Schema);
  const given = parameters.filter(({ example }) => example !== undefined);
  return [
    {
      operation,
      route: { method: method.toUpperCase(), path },
      shape: {
        path,
        body: schema?.properties ?? null,
        query: parameters.filter((one) => one.in === "query").map(({ name }) => name),
      },
      type,
      example: {
        ...Object.fromEntries(given.map(({ name, example }) => [name, example])),
        ...media?.example,
      },
      security: securityOf(node),
    },
  ];
};

/** Every route that the document gives an operation. */
export const publishedRoutes: readonly PublishedRoute[] = Object.entries(published.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).flatMap(([method, node]) => readRoute(path, method, resolve(node))),
);

const pathOf = (args: Arguments, { path }: Shape): Arguments =>
  Object.fromEntries(Object.entries(args).filter(([name]) => path.includes(`{${name}}`)));

/** Arguments of a valid request: the document's example, or one with records that exist. */
export const validArguments = (
  { operation, example, shape }: PublishedRoute,
  records: Records,
  fresh: string,
  variant: number,
): Arguments => {
  const samples = SAMPLES[operation.id] ?? [];
  const { tenantId } = records;
  const sample = samples[variant % samples.length]?.(records, fresh) ?? {};
  if (variant % 4 !== 0) return { ...pathOf(example, shape), tenantId, ...sample };
  return { ...example, ...pathOf(sample, shape), tenantId };
};
