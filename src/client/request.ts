import {
  type CallArguments,
  type Method,
  type Operation,
  parsePathParameters,
} from "../contract/operation.ts";
import { createFieldProblem } from "../contract/errors.ts";

/** An operation's request line and body. */
export type Route = { method: Method; target: string; body: string | null };

/** The form of a lookup: the documented GET with a body, or its POST alias. */
export type LookupForm = "documented" | "postAlias";

const formatScalar = (name: string, value: unknown): string => {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new TypeError(`argument ${name} cannot stand in a URL`);
};

const refuse = (field: string, message: string): never => {
  throw createFieldProblem("invalid_parameter", { field, code: "format", message });
};

// A lone surrogate has no UTF-8 encoding.
const encodeValue = (name: string, value: unknown): string => {
  const text = formatScalar(name, value);
  if (!text.isWellFormed()) return refuse(name, "must be well-formed text");
  return encodeURIComponent(text);
};

/**
 * Dot segments, which URL parsers drop even when they are percent-encoded. A proxy that decodes slashes drops them within
 * a value too, so the value would choose another operation.
 */
const DOT_SEGMENT = /(?:^|[/\\])\.{1,2}(?:[/\\]|$)/;

const encodeSegment = (name: string, value: unknown): string => {
  if (value === undefined) throw new TypeError(`argument ${name} is missing`);
  const text = encodeValue(name, value);
  if (text === "") refuse(name, "cannot be empty");
  if (DOT_SEGMENT.test(String(value))) refuse(name, "cannot have . or .. between slashes");
  return text;
};

const buildPath = (template: string, args: CallArguments): string =>
  parsePathParameters(template).reduce(
    (path, name) => path.replace(`{${name}}`, () => encodeSegment(name, args[name])),
    template,
  );

const encodePair = (name: string, value: unknown): string =>
  `${encodeURIComponent(name)}=${encodeValue(name, value)}`;

const buildQuery = (operation: Operation, args: CallArguments): string => {
  const pairs = Object.keys(operation.query.shape).flatMap((name) => {
    const value = args[name];
    if (value === undefined) return [];
    return Array.isArray(value)
      ? value.map((item) => encodePair(name, item))
      : [encodePair(name, value)];
  });
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
};

const buildBody = (operation: Operation, args: CallArguments): string | null => {
  if (operation.body === null) return null;
  const names = Object.keys(operation.body.shape);
  return JSON.stringify(
    Object.fromEntries(names.flatMap((name) => (name in args ? [[name, args[name]]] : []))),
  );
};

const checkNames = (operation: Operation, args: CallArguments): void => {
  const known = [operation.params, operation.query, operation.body].flatMap((part) =>
    Object.keys(part?.shape ?? {}),
  );
  const unknown = Object.keys(args).filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new TypeError(`${operation.id} has no argument ${unknown.join(", ")}`);
  }
};

const findPostAlias = ({ aliases }: Operation) => aliases.find(({ method }) => method === "POST");

/** Whether an operation is documented as a GET with a body and has a POST alias. */
export const isLookup = (operation: Operation): boolean =>
  operation.method === "GET" && operation.body !== null && findPostAlias(operation) !== undefined;

/** Builds the request from flat arguments: path, query and body. */
export const buildRoute = (operation: Operation, args: CallArguments, form: LookupForm): Route => {
  checkNames(operation, args);
  const alias = form === "postAlias" && isLookup(operation) ? findPostAlias(operation) : undefined;
  const { method, path } = alias ?? operation;
  const target = buildPath(path, args) + buildQuery(operation, args);
  return { method, target, body: buildBody(operation, args) };
};
