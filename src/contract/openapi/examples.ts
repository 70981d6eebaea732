import type { Operation } from "../operation.ts";
import made from "./examples.json" with { type: "json" };

/** An exchange with a platform: parameters by place, the body and the response. */
type Example = {
  path: Readonly<Record<string, unknown>>;
  query: Readonly<Record<string, unknown>>;
  body?: unknown;
  response?: unknown;
};

/** An exchange for each operation, recorded by `test/openapi-examples.test.ts`. */
export const examples: Readonly<Record<string, Example | undefined>> = made;

export const findExample = ({ id }: Operation): Example => examples[id] ?? { path: {}, query: {} };

/** Returns the `example` of a media type or parameter. */
export const toExample = (value: unknown): { example?: unknown } =>
  value === undefined ? {} : { example: value };
