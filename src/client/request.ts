import { type Method, type Operation, pathParameters } from "../contract/operation.ts";
import { Problem } from "../contract/errors.ts";

/** Where an operation's arguments go on the wire. */
export type Route = { method: Method; target: string; body: string | null };

/** A GET that has a body, as documented, or the POST that means the same. */
export type Way = "documented" | "twin";

type Args = Record<string, unknown>;

const scalar = (name: string, value: unknown): string => {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new TypeError(`argument ${name} cannot stand in a URL`);
};

const refuse = (field: string, message: string): never => {
  throw new Problem("invalid_parameter", `${field} ${message}.`, {
    errors: [{ field, code: "format", message }],
  });
};

// Half a surrogate pair has no UTF-8 form.
const encoded = (name: string, value: unknown): string => {
  const text = scalar(name, value);
  if (!text.isWellFormed()) return refuse(name, "must be well-formed text");
  return encodeURIComponent(text);
};

// URL parsers drop "." and ".." even when they are percent-encoded, so such a segment would name another record.
const segment = (name: string, value: unknown): string => {
  if (value === undefined) throw new TypeError(`argument ${name} is missing`);
  const text = encoded(name, value);
  if (text === "" || text === "." || text === "..") refuse(name, "cannot be empty, . or ..");
  return text;
};

const pathOf = (template: string, args: Args): string =>
  pathParameters(template).reduce(
    (path, name) => path.replace(`{${name}}`, () => segment(name, args[name])),
    template,
  );

const pair = (name: string, value: unknown): string =>
  `${encodeURIComponent(name)}=${encoded(name, value)}`;

const queryOf = (operation: Operation, args: Args): string => {
  const pairs = Object.keys(operation.query.shape).flatMap((name) => {
    const value = args[name];
    if (value === undefined) return [];
    return Array.isArray(value) ? value.map((item) => pair(name, item)) : [pair(name, value)];
  });
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
};

const bodyOf = (operation: Operation, args: Args): string | null => {
  if (operation.body === null) return null;
  const names = Object.keys(operation.body.shape);
  return JSON.stringify(
    Object.fromEntries(names.flatMap((name) => (name in args ? [[name, args[name]]] : []))),
  );
};

const checkNames = (operation: Operation, args: Args): void => {
  const known = [operation.params, operation.query, operation.body].flatMap((part) =>
    Object.keys(part?.shape ?? {}),
  );
  const strange = Object.keys(args).filter((name) => !known.includes(name));
  if (strange.length > 0) {
    throw new TypeError(`${operation.id} has no argument ${strange.join(", ")}`);
  }
};

const twinOf = ({ also }: Operation) => also.find(({ method }) => method === "POST");

/** Whether an operation is documented as a GET with a body and has a POST that means the same. */
export const isLookup = (operation: Operation): boolean =>
  operation.method === "GET" && operation.body !== null && twinOf(operation) !== undefined;

/** Splits flat arguments into path, query and body. */
export const routeOf = (operation: Operation, args: Args, way: Way): Route => {
  checkNames(operation, args);
  const twin = way === "twin" && isLookup(operation) ? twinOf(operation) : undefined;
  const { method, path } = twin ?? operation;
  const target = pathOf(path, args) + queryOf(operation, args);
  return { method, target, body: bodyOf(operation, args) };
};
