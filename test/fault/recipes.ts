import fc from "fast-check";
import { z } from "zod";
import { type Operation, parsePathParameters } from "../../src/contract/operation.ts";
import type { Arguments } from "../support/samples.ts";
import { contentTypes, encoded, fitting, headers, type Schema, weird } from "./values.ts";

/** The fields of a request that recipes mutate, by operation or by the published document. */
export type Shape = {
  path: string;
  body: Readonly<Record<string, Schema>> | null;
  query: readonly string[];
};

export const shapeOf = ({ path, body, query }: Operation): Shape => ({
  path,
  body:
    body === null
      ? null
      : ((z.toJSONSchema(body, { io: "input", unrepresentable: "any" }).properties ??
          {}) as NonNullable<Shape["body"]>),
  query: Object.keys(query.shape),
});

/** Mutations of a valid request. They name no record, so they mean the same on every database. */
export type Recipe = {
  /** Selects one of the operation's routes and samples. */
  route: number;
  variant: number;
  method: string | undefined;
  /** Fields of the body as JSON text, in place of the sample's or beside them. */
  fields: [name: string, text: string][];
  dropped: string[];
  /** Mutates the body's text as a whole. */
  spoil: (text: string) => string;
  params: [name: string, text: string][];
  query: [name: string, text: string][];
  headers: Record<string, string>;
};

/** Changes nothing. */
export const PLAIN: Recipe = {
  route: 0,
  variant: 0,
  method: undefined,
  fields: [],
  dropped: [],
  spoil: (text) => text,
  params: [],
  query: [],
  headers: {},
};

export type Built = {
  method: string;
  path: string;
  body: string | undefined;
  headers: Record<string, string>;
};

const STRANGE_NAMES = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "tenantId",
  "disputeId",
  "createUser",
  "version",
  "",
  "\u0000",
  "x".repeat(300),
  "\u202ename",
  "a.b",
];

const MEBIBYTE = 1024 * 1024;

const spoilt: fc.Arbitrary<(text: string) => string> = fc.oneof(
  fc.constantFrom<((text: string) => string)[]>(
    () => "",
    () => "  \n ",
    () => "null",
    () => "123",
    () => '"text"',
    () => "[]",
    () => "{}",
    () => "}",
    (text) => `\ufeff${text}`,
    (text) => `${text}\0`,
    (text) => `${text},`,
    (text) => `[${text}]`,
    (text) => `{"data":${text}}`,
    (text) => text.replace(/}$/, ",}"),
    (text) => text.replaceAll('"', "'"),
    (text) => text.replace(/}$/, ',"__proto__":{"polluted":true}}'),
    (text) => `${'{"a":'.repeat(200_000)}${text}`,
    (text) => text.replace("{", `{"padding":"${"p".repeat(MEBIBYTE)}",`),
    (text) => text + " ".repeat(MEBIBYTE),
  ),
  fc
    .double({ min: 0, max: 1, noNaN: true })
    .map((share) => (text: string) => text.slice(0, text.length * share)),
);

const mostly = <T>(arbitrary: fc.Arbitrary<T>, otherwise: T, share: number): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: Math.round(100 * share), arbitrary },
    { weight: 100 - Math.round(100 * share), arbitrary: fc.constant(otherwise) },
  );

const rarely = <T>(arbitrary: fc.Arbitrary<T>, otherwise: T, oneIn: number): fc.Arbitrary<T> =>
  mostly(arbitrary, otherwise, 1 / oneIn);

const fieldOf = ({ body }: Shape): fc.Arbitrary<[string, string]> => {
  const strange = fc.tuple(fc.constantFrom(...STRANGE_NAMES), weird);
  if (body === null) return strange;
  const known = Object.entries(body).map(([name, schema]) =>
    fc.tuple(fc.constant(name), fc.oneof(weird, fitting(schema))),
  );
  return fc.oneof({ weight: 8, arbitrary: fc.oneof(...known) }, { weight: 1, arbitrary: strange });
};

// The tenant is asked about first, so a wrong one hides all else that is wrong.
const paramOf = ({ path }: Shape): fc.Arbitrary<[string, string]> => {
  const [tenant = "", ...rest] = parsePathParameters(path);
  if (rest.length === 0) return fc.tuple(fc.constant(tenant), encoded);
  const name = fc.oneof(
    { weight: 1, arbitrary: fc.constant(tenant) },
    { weight: 6, arbitrary: fc.constantFrom(...rest) },
  );
  return fc.tuple(name, encoded);
};

const queryOf = ({ query }: Shape): fc.Arbitrary<[string, string]> => {
  const known = fc.tuple(fc.constantFrom("unknown", ...query), encoded);
  const strange = fc.tuple(encoded, encoded);
  return fc.oneof({ weight: 6, arbitrary: known }, { weight: 1, arbitrary: strange });
};

const inHeaders = fc.oneof(
  { weight: 5, arbitrary: headers },
  { weight: 3, arbitrary: contentTypes.map((type) => ({ "Content-Type": type })) },
  { weight: 1, arbitrary: fc.constant({ "X-Platform-Auth": "no token", "X-API-Key": "no key" }) },
);

/** Spoilt requests to an operation, most of them spoilt in one place or two. */
export const recipes = (shape: Shape): fc.Arbitrary<Recipe> => {
  const { body, query, path } = shape;
  const oneOrTwo = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
    fc.oneof(fc.tuple(item), fc.tuple(item), fc.tuple(item, item));
  const queried = query.length > 0;
  const inParams = parsePathParameters(path).length === 1 ? 0.25 : 0.6;
  return fc.record({
    route: fc.nat(3),
    variant: fc.nat(7),
    method: rarely(fc.constantFrom("PATCH", "PROPFIND", "OPTIONS"), undefined, 40),
    fields: mostly(oneOrTwo(fieldOf(shape)), [], body === null ? 0.1 : 0.75),
    dropped: rarely(fc.subarray(Object.keys(body ?? {})), [], 8),
    spoil: rarely(spoilt, (text: string) => text, 6),
    params: path.includes("{")
      ? mostly(oneOrTwo(paramOf(shape)), [], body === null ? inParams : 0.04)
      : fc.constant([]),
    query: mostly(oneOrTwo(queryOf(shape)), [], queried ? 0.8 : 0.1),
    headers: rarely(inHeaders, {}, body === null ? 3 : 6),
  });
};

/** Valid requests with one mutation each. */
export const nearlyValid = (shape: Shape): fc.Arbitrary<Recipe> => {
  const { body, path } = shape;
  const has = (yes: boolean, weight: number): number => (yes ? weight : 0);
  const one = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> => item.map((value) => [value]);
  const names = Object.keys(body ?? {});
  const mutation = fc.oneof(
    { weight: has(body !== null, 10), arbitrary: fc.record({ fields: one(fieldOf(shape)) }) },
    {
      weight: has(names.length > 0, 2),
      arbitrary: fc.record({ dropped: one(fc.constantFrom("", ...names)) }),
    },
    { weight: has(body !== null, 2), arbitrary: fc.record({ spoil: spoilt }) },
    {
      weight: has(path.includes("{"), 4),
      arbitrary: fc.record({ params: one(paramOf(shape)) }),
    },
    {
      weight: shape.query.length > 0 ? 8 : 1,
      arbitrary: fc.record({ query: one(queryOf(shape)) }),
    },
    { weight: 2, arbitrary: fc.record({ headers: inHeaders }) },
    { weight: 1, arbitrary: fc.constant({}) },
  );
  return fc
    .tuple(mutation, fc.nat(7))
    .map(([part, variant]): Recipe => ({ ...PLAIN, variant, ...part }));
};

/** Requests whose every part is generated. */
export const wild = (shape: Shape): fc.Arbitrary<Recipe> =>
  fc.record({
    route: fc.nat(3),
    variant: fc.nat(7),
    method: fc.constant(undefined),
    fields: fc.array(fieldOf(shape), { maxLength: 12 }),
    dropped: fc.subarray(Object.keys(shape.body ?? {})),
    spoil: rarely(spoilt, (text: string) => text, 6),
    params: rarely(fc.array(paramOf(shape), { maxLength: 3 }), [], 4),
    query: fc.array(queryOf(shape), { maxLength: 6 }),
    headers: rarely(inHeaders, {}, 6),
  });

const own = (from: Arguments, name: string): unknown =>
  Object.hasOwn(from, name) ? from[name] : undefined;

const bodyText = ({ body }: Shape, args: Arguments, recipe: Recipe): string => {
  const sent = Object.keys(body ?? {})
    .filter((name) => own(args, name) !== undefined && !recipe.dropped.includes(name))
    .map((name): [string, string] => [name, JSON.stringify(args[name])]);
  // The mutated field comes last, because the last of equal names counts.
  const fields = [...sent, ...recipe.fields].map(
    ([name, text]) => `${JSON.stringify(name)}:${text}`,
  );
  return recipe.spoil(`{${fields.join(",")}}`);
};

/** The recipe carried out on valid arguments. */
export const build = (
  shape: Shape,
  route: Pick<Operation, "method" | "path">,
  args: Arguments,
  recipe: Recipe,
): Built => {
  const params = new Map(recipe.params);
  const path = route.path.replaceAll(
    /\{(\w+)\}/g,
    (_whole, name: string) => params.get(name) ?? encodeURIComponent(String(args[name])),
  );
  const sent = shape.query
    .filter((name) => own(args, name) !== undefined)
    .map((name) => `${name}=${encodeURIComponent(String(args[name]))}`);
  const query = [...sent, ...recipe.query.map(([name, text]) => `${name}=${text}`)].join("&");
  const takesBody = shape.body !== null || recipe.fields.length > 0;
  return {
    method: recipe.method ?? route.method,
    path: query === "" ? path : `${path}?${query}`,
    body: takesBody && route.method !== "GET" ? bodyText(shape, args, recipe) : undefined,
    headers: recipe.headers,
  };
};
