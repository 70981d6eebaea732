import { type Method, type Operation, pathParameters } from "../contract/operation.ts";
import { Problem } from "../contract/errors.ts";

/** Where an operation's arguments go on the wire. */
export type Route = { method: Method; target: string; body: string | null };

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

/** Splits flat arguments into path, query and body; a GET that has a body falls back to its POST twin. */
export const routeOf = (operation: Operation, args: Args, getWithBody: boolean): Route => {
  checkNames(operation, args);
  const body = bodyOf(operation, args);
  const twin = operation.also.find((route) => route.method === "POST");
  const { method, path } =
    operation.method === "GET" && body !== null && !getWithBody && twin !== undefined
      ? twin
      : operation;
  return { method, target: pathOf(path, args) + queryOf(operation, args), body };
};
