import { z } from "zod";
import type { OperationErrorCode } from "./errors.ts";
import type { Permission, Scope } from "./permissions.ts";

/** Which of the platform's services answers: each has its own base URL, credential header and error dialect. */
export type Service = "gateway" | "export" | "ingest";
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * What a caller must bring: nothing, any live credential, access to the path's tenant,
 * or (beyond that) a permission or an export key's scope.
 */
export type Access = "public" | "caller" | "member" | Permission | Scope;

/** `read` changes nothing; `create` adds a record at each call; `change` may be repeated; `session` opens or closes sessions. */
export type Effect = "read" | "create" | "change" | "session";

/** What an audit action may depend on. */
export type Outcome = {
  status: number;
  body: unknown;
  /** The record's state before the change, where the service reports it. */
  before?: unknown;
};

/** Ids and codes of a request for its audit entry. The body of a `late` operation is not validated. */
export type AuditMetadata = (input: {
  params: Record<string, unknown>;
  body: unknown;
}) => Record<string, string>;

type Shape = z.ZodObject;

export type CallArguments = Readonly<Record<string, unknown>>;

/**
 * What an operation may do to records beyond changing the fields that it is sent. A person is asked
 * before. `replaces` loses the fields that are not sent, and happens only where the record exists;
 * `discloses` sends data of the tenant to an address that the caller names.
 */
export type SideEffect = {
  kind: "closes" | "cancels" | "deletes" | "replaces" | "discloses";
  what: string;
  /** Absent: with any arguments. */
  when?: (args: CallArguments) => boolean;
};

/**
 * How a list is answered: a bare array; an object with its records under `data`, `attachments` or
 * `applications`; pages of `data` under a cursor; or pages of one frozen export run.
 */
export type ListStyle = "array" | "data" | "attachments" | "applications" | "pages" | "run";
export type ListAnswer = {
  style: ListStyle;
  /** The first field of a row does not identify it. */
  anonymous: boolean;
};

/** A secret in an answer, which is never shown again and never to a model. */
export type ReturnedSecret = {
  kind: "api-key" | "webhook-secret";
  /** The fields of the answer with the secret and with the id of its record. */
  field: string;
  id: string;
  /** The field that names where the secret was stored, in its place. */
  storedAs: string;
  /** Deletes the record, which is of no use without its secret. */
  undo: Operation;
};

/** A body of bytes, taken as they come. */
export type Raw = { type: string; maxBytes: number };

type Spec = {
  id: `${string}.${string}`;
  service: Service;
  method: Method;
  /** From the root of the service, with `{parameters}`. */
  path: `/${string}`;
  /** Further routes with the same meaning, such as the POST twin of a GET that has a body. */
  also?: readonly { method: Method; path: `/${string}` }[];
  access: Access;
  effect?: Effect;
  summary: string;
  params?: Shape;
  query?: Shape;
  body?: Shape;
  /** The body is a file. */
  raw?: Raw;
  /** The service checks the body itself, with all it knows, so that a refusal names every fault at once. */
  late?: true;
  /** A change that makes the record where there is none, and then answers 201. */
  upsert?: true;
  /** `null`: an answer without a body. */
  output: z.ZodType | null;
  /** The answer is a file's bytes; `output` is what its headers say of it. */
  file?: true;
  /** How long anybody may keep the answer, which is the same for all. */
  cacheSeconds?: number;
  fails?: readonly OperationErrorCode[];
  effects?: readonly SideEffect[];
  /** For a list whose answer does not follow from its schema. */
  list?: Partial<ListAnswer>;
  /** A search by a list of values: the argument that lists them and the field of each record found. */
  lookup?: { argument: string; field: string };
  returnsSecret?: ReturnedSecret;
  /** Needs the person's own session; or prefers it to an API key. */
  credential?: "session" | "session_or_key";
  /** What a `session` operation does to the session. */
  session?: "opens" | "verifies" | "closes";
  /** The record without the answers that no model may see. */
  mask?: (record: never) => Record<string, unknown>;
  /** Of this platform alone: others may lack the route. */
  extension?: true;
  /** The audit log's word, or how it follows from the outcome. */
  audit: string | ((outcome: Outcome) => string);
  /** Metadata of the audit entry beside the path's ids; written for refused requests too. */
  auditMetadata?: AuditMetadata;
  /** The part of the interface documents where it is described. */
  source: string;
};

const deriveEffect = (spec: Spec): Effect => {
  if (spec.effect !== undefined) return spec.effect;
  if (spec.method === "GET") return "read";
  return spec.method === "POST" ? "create" : "change";
};

const deriveStatus = (spec: Spec, effect: Effect): 200 | 201 | 204 => {
  if (spec.method === "DELETE") return 204;
  return effect === "create" ? 201 : 200;
};

const emptyShape = z.strictObject({});

const deriveListStyle = (output: Spec["output"]): ListStyle | undefined => {
  if (output instanceof z.ZodArray) return "array";
  if (!(output instanceof z.ZodObject) || !("data" in output.shape)) return undefined;
  return "pagination" in output.shape ? "pages" : "data";
};

const deriveListAnswer = ({ output, list = {} }: Spec): ListAnswer | null => {
  const style = list.style ?? deriveListStyle(output);
  return style === undefined ? null : { style, anonymous: list.anonymous ?? false };
};

/** One thing the platform can do, declared once: routes, client, tools, documents and tests read it. */
export const defineOperation = <const S extends Spec>(spec: S) => {
  const effect = deriveEffect(spec);
  return {
    also: [],
    params: emptyShape,
    query: emptyShape,
    body: null,
    raw: null,
    fails: [],
    effects: [],
    lookup: null,
    returnsSecret: null,
    credential: null,
    session: null,
    mask: null,
    extension: false,
    late: false,
    upsert: false,
    file: false,
    cacheSeconds: 0,
    auditMetadata: () => ({}),
    ...spec,
    effect,
    list: deriveListAnswer(spec),
    status: deriveStatus(spec, effect),
  } as Declared<S>;
};

/** Declared once here, and read wherever an operation is a special case. */
type Traits = {
  effects: readonly SideEffect[];
  list: ListAnswer | null;
  lookup: { argument: string; field: string } | null;
  returnsSecret: ReturnedSecret | null;
  credential: "session" | "session_or_key" | null;
  session: "opens" | "verifies" | "closes" | null;
  mask: ((record: never) => Record<string, unknown>) | null;
  extension: boolean;
};

type Declared<S extends Spec> = Omit<
  S,
  | "effect"
  | "params"
  | "query"
  | "body"
  | "raw"
  | "fails"
  | "also"
  | keyof Traits
  | "late"
  | "upsert"
  | "file"
  | "cacheSeconds"
  | "auditMetadata"
> &
  Traits & {
    late: S["late"] extends true ? true : false;
    upsert: boolean;
    file: S["file"] extends true ? true : false;
    cacheSeconds: number;
    auditMetadata: AuditMetadata;
    also: readonly { method: Method; path: `/${string}` }[];
    effect: Effect;
    status: 200 | 201 | 204;
    params: S["params"] extends Shape ? S["params"] : typeof emptyShape;
    query: S["query"] extends Shape ? S["query"] : typeof emptyShape;
    body: S["body"] extends Shape ? S["body"] : null;
    raw: S["raw"] extends Raw ? Raw : null;
    fails: S["fails"] extends readonly OperationErrorCode[] ? S["fails"] : readonly [];
  };

/** Any operation, as routes, client and tools see it. */
export type Operation = Traits & {
  id: string;
  service: Service;
  method: Method;
  path: `/${string}`;
  also: readonly { method: Method; path: `/${string}` }[];
  access: Access;
  effect: Effect;
  status: 200 | 201 | 204;
  summary: string;
  params: Shape;
  query: Shape;
  body: Shape | null;
  raw: Raw | null;
  late: boolean;
  upsert: boolean;
  output: z.ZodType | null;
  file: boolean;
  cacheSeconds: number;
  fails: readonly OperationErrorCode[];
  audit: string | ((outcome: Outcome) => string);
  auditMetadata: AuditMetadata;
  source: string;
};

type JsonBody<O extends Operation> = O["late"] extends true
  ? unknown
  : O["body"] extends Shape
    ? z.output<O["body"]>
    : null;

type Body<O extends Operation> = O["raw"] extends Raw ? ReadableStream<Uint8Array> : JsonBody<O>;

/** What a handler is given: validated (unless it is late), each part where it was sent. */
export type Input<O extends Operation> = {
  params: z.output<O["params"]>;
  query: z.output<O["query"]>;
  body: Body<O>;
};

export type Output<O extends Operation> = O["output"] extends z.ZodType
  ? z.input<O["output"]>
  : null;

export type FailCode<O extends Operation> = O["fails"][number];

/** Operations whose answer is a bare array. */
export const isList = (operation: Operation): boolean => operation.output instanceof z.ZodArray;

/** What an operation would do with these arguments that a person is asked about first. */
export const findSideEffects = (
  { effects }: Operation,
  args: CallArguments,
): readonly SideEffect[] => effects.filter(({ when }) => when === undefined || when(args));

/** Every argument of an operation in one flat object: the names of path, query and body. */
export const mergeArguments = (operation: Operation): Record<string, z.ZodType> => ({
  ...operation.params.shape,
  ...operation.query.shape,
  ...operation.body?.shape,
});

/** The `{names}` in a path, in order. */
export const parsePathParameters = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
