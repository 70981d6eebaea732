import { z } from "zod";
import type { OperationErrorCode } from "./errors.ts";
import type { Permission, Scope } from "./permissions.ts";

/** The service that answers an operation. Each service has its own base URL, credential header and error format. */
export type Service = "gateway" | "export" | "ingest";
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * The access that an operation requires: none (`public`), any valid credential (`caller`), access to
 * the path's tenant (`member`), or additionally a permission or a scope of an export key.
 */
export type Access = "public" | "caller" | "member" | Permission | Scope;

/** `create` adds a record with each call, `change` is idempotent, `session` opens or closes sessions. */
export type Effect = "read" | "create" | "change" | "session";

/** The outcome of a request, from which its audit action can derive. */
export type Outcome = {
  status: number;
  body: unknown;
  /** The record's state before the change, if the service reports it. */
  before?: unknown;
};

/** The action in the audit log: one, or those from which the outcome chooses. */
export type AuditAction =
  | string
  | { actions: readonly string[]; choose: (outcome: Outcome) => string };

/** Returns ids and codes of a request for its audit entry. The body of a `lateValidation` operation is not validated yet. */
export type AuditMetadata = (input: {
  params: Record<string, unknown>;
  body: unknown;
}) => Record<string, string>;

type Shape = z.ZodObject;

export type CallArguments = Readonly<Record<string, unknown>>;

/**
 * An effect that requires a person's confirmation before an MCP tool call. `replaces` clears the fields
 * that are not sent, if the record exists; `discloses` sends tenant data to an address in the arguments.
 */
export type SideEffect = {
  kind: "closes" | "cancels" | "deletes" | "replaces" | "discloses";
  target: string;
  /** The arguments that cause the effect; all if absent. */
  when?: (args: CallArguments) => boolean;
};

/**
 * The JSON form of a list: an array; an object with the records in `data`, `attachments` or
 * `applications`; cursor pages of `data`; or cursor pages of one export run's stored rows.
 */
export type ListStyle = "array" | "data" | "attachments" | "applications" | "pages" | "run";
export type ListAnswer = {
  style: ListStyle;
  /** The rows have no id as their first field. */
  anonymous: boolean;
  /** The fields of a row in a tool's answer when the call names none; null: rows are never cut. */
  defaultFields: readonly string[] | null;
  /** Returns every field that a row can have. */
  fieldsOf: (args: CallArguments) => readonly string[];
};

/** A secret in a response. It is returned once and never shown to a model. */
export type ReturnedSecret = {
  kind: "api-key" | "webhook-secret";
  /** Names of the response fields with the secret and with the record's id. */
  field: string;
  id: string;
  /** Name of the field that replaces the secret in a tool's answer: its name in the secret store. */
  storedAs: string;
  /** Deletes the record if its secret cannot be stored. */
  undo: Operation;
};

/**
 * Query parameters of an operation that other platforms may not know. Tools with `offered` ones take them, and refuse
 * them where the platform does not announce them; other additions are not arguments of tools.
 */
export type Additions = {
  name: string;
  query: readonly string[];
  offered?: true;
  /** Arguments that a tool sends by itself where the platform announces them. */
  always?: CallArguments;
};

/** The short form of a record. */
export type Brief = {
  shorten: (record: Record<string, unknown>) => Record<string, unknown>;
  fields: Shape;
};

/** A request body of raw bytes. */
export type Raw = { type: string; maxBytes: number };

type Spec = {
  id: `${string}.${string}`;
  service: Service;
  method: Method;
  /** Path under the service's base URL, with `{parameters}`. */
  path: `/${string}`;
  /** Additional routes of the operation, such as the POST alias of a GET with a body. */
  aliases?: readonly { method: Method; path: `/${string}` }[];
  access: Access;
  /** By default as the method says: GET reads, POST creates, and the others change. */
  effect?: Effect;
  /** A change of fields of the record at the path, to which a version can be named. By default PUT and PATCH. */
  updates?: boolean;
  /** Null clears a field. By default PATCH. */
  clears?: boolean;
  /** Two equal requests have the effect of one, and the same answer. By default PUT, and what reads. */
  repeatable?: boolean;
  summary: string;
  params?: Shape;
  query?: Shape;
  body?: Shape;
  /** The body is a file. */
  raw?: Raw;
  /** The service validates the body itself, so that one error lists the faults of schema and rules together. */
  lateValidation?: true;
  /** The operation creates the record if it does not exist, and then returns 201. */
  upsert?: true;
  /** `null` if the response has no body. */
  output: z.ZodType | null;
  /** The response body is a file; `output` describes the data in its headers. */
  file?: true;
  /** Seconds for which shared caches may store the response; it must be the same for all callers. */
  cacheSeconds?: number;
  errors?: readonly OperationErrorCode[];
  effects?: readonly SideEffect[];
  /** List properties that the output schema does not imply. */
  list?: Partial<ListAnswer>;
  /** For a search by a list of values: the list argument, and the record field that matches it. */
  lookup?: { argument: string; field: string };
  returnsSecret?: ReturnedSecret;
  /** `session` requires a user session; `session_or_key` prefers it to an API key. */
  credential?: "session" | "session_or_key";
  /** The effect of a `session` operation on the session. */
  session?: "opens" | "verifies" | "closes";
  /** Masks the parts of a record that models must not see. */
  mask?(record: unknown): Record<string, unknown>;
  /** For a record that may exceed an answer: its short form, and the fields that only this form has. */
  brief?: Brief;
  /** An addition to the interface documents; other platforms may not have the route. */
  extension?: true;
  /** Query parameters that are additions to the documented operation, announced as `<id>.<name>`. */
  additions?: Additions;
  audit: AuditAction;
  /** Additional metadata of the audit entry; also written for refused requests. */
  auditMetadata?: AuditMetadata;
};

type Flag = "lateValidation" | "upsert" | "file" | "extension";
/** Properties that are null where the declaration has none. */
type Nullable =
  | "body"
  | "raw"
  | "lookup"
  | "returnsSecret"
  | "credential"
  | "session"
  | "mask"
  | "brief"
  | "additions";

/** An operation without its specific types, for code that handles every operation. */
export type Operation = Required<Omit<Spec, Flag | Nullable | "list">> &
  Record<Flag, boolean> & { [Name in Nullable]: Required<Spec>[Name] | null } & {
    list: ListAnswer | null;
    status: 200 | 201 | 204;
  };

/** The declaration of an operation inside {@link defineOperations}. */
type Unnamed = Omit<Spec, "id" | "service">;

type Specific =
  | "lateValidation"
  | "file"
  | "params"
  | "query"
  | "body"
  | "raw"
  | "output"
  | "errors";

type Declared<S extends Unnamed> = Omit<Operation, Specific> & {
  lateValidation: S["lateValidation"] extends true ? true : false;
  file: S["file"] extends true ? true : false;
  params: S["params"] extends Shape ? S["params"] : typeof emptyShape;
  query: S["query"] extends Shape ? S["query"] : typeof emptyShape;
  body: S["body"] extends Shape ? S["body"] : null;
  raw: S["raw"] extends Raw ? Raw : null;
  output: S["output"];
  errors: S["errors"] extends readonly OperationErrorCode[] ? S["errors"] : readonly [];
};

const deriveEffect = (spec: Spec): Effect => {
  if (spec.effect !== undefined) return spec.effect;
  if (spec.method === "GET") return "read";
  return spec.method === "POST" ? "create" : "change";
};

const deriveStatus = ({ output }: Spec, effect: Effect): 200 | 201 | 204 => {
  if (output === null) return 204;
  return effect === "create" ? 201 : 200;
};

const emptyShape = z.strictObject({});

const deriveListStyle = (output: Spec["output"]): ListStyle | undefined => {
  if (output instanceof z.ZodArray) return "array";
  if (!(output instanceof z.ZodObject) || !("data" in output.shape)) return undefined;
  return "pagination" in output.shape ? "pages" : "data";
};

/** Returns the schema of a list's rows: its elements, or those of the array in its answer. */
export const findRowSchema = (output: z.ZodType | null): z.ZodType | undefined => {
  if (output instanceof z.ZodArray) return output.element as z.ZodType;
  if (!(output instanceof z.ZodObject)) return undefined;
  const { data, applications } = output.shape as Record<string, z.ZodType | undefined>;
  const rows = data ?? applications;
  return rows instanceof z.ZodArray ? (rows.element as z.ZodType) : undefined;
};

const listFields = (row: z.ZodType | undefined): readonly string[] =>
  row instanceof z.ZodObject ? Object.keys(row.shape) : [];

const deriveListAnswer = ({ output, list = {} }: Spec): ListAnswer | null => {
  const style = list.style ?? deriveListStyle(output);
  if (style === undefined) return null;
  const fields = listFields(findRowSchema(output));
  const { anonymous = false, defaultFields = null, fieldsOf = () => fields } = list;
  const hasField = (name: string): boolean => fields.length === 0 || fields.includes(name);
  return { style, anonymous, fieldsOf, defaultFields: defaultFields?.filter(hasField) ?? null };
};

/** Declares an operation and fills in defaults. Routes, client, tools, the OpenAPI document and tests derive from it. */
export const defineOperation = <const S extends Spec>(spec: S) => {
  const effect = deriveEffect(spec);
  return {
    aliases: [],
    params: emptyShape,
    query: emptyShape,
    body: null,
    raw: null,
    errors: [],
    effects: [],
    lookup: null,
    returnsSecret: null,
    credential: null,
    session: null,
    mask: null,
    brief: null,
    extension: false,
    additions: null,
    lateValidation: false,
    upsert: false,
    file: false,
    cacheSeconds: 0,
    auditMetadata: () => ({}),
    updates: spec.method === "PUT" || spec.method === "PATCH",
    clears: spec.method === "PATCH",
    repeatable: effect === "read" || spec.method === "PUT",
    ...spec,
    effect,
    list: deriveListAnswer(spec),
    status: deriveStatus(spec, effect),
  } as Declared<S>;
};

/** Declares the operations of a noun on one service. The id of an operation is the noun and its verb. */
export const defineOperations = <const G extends Readonly<Record<string, Unnamed>>>(
  service: Service,
  noun: string,
  specs: G,
) =>
  Object.fromEntries(
    Object.entries(specs).map(([verb, spec]) => [
      verb,
      defineOperation({ ...spec, id: `${noun}.${verb}`, service }),
    ]),
  ) as { [Verb in keyof G]: Declared<G[Verb]> };

type JsonBody<O extends Operation> = O["lateValidation"] extends true
  ? unknown
  : O["body"] extends Shape
    ? z.output<O["body"]>
    : null;

type Body<O extends Operation> = O["raw"] extends Raw ? ReadableStream<Uint8Array> : JsonBody<O>;

/** The input of a handler. It is validated, except for the body of a `lateValidation` operation. */
export type Input<O extends Operation> = {
  params: z.output<O["params"]>;
  query: z.output<O["query"]>;
  body: Body<O>;
};

type ShapeOf<S> = S extends Shape ? S["shape"] : unknown;

/**
 * The arguments of a call in one object: the names of path, query and body, which are distinct, without the tenant,
 * which goes with the credential. For an operation that is not known before run time, any names.
 */
export type ArgsOf<O extends Operation> = Omit<
  z.input<z.ZodObject<ShapeOf<O["params"]> & ShapeOf<O["query"]> & ShapeOf<O["body"]>>>,
  "tenantId"
>;

/** The response of an operation as it is sent; unknown for an operation that is not known before run time. */
export type OutputOf<O extends Operation> = O extends { output: infer Schema }
  ? Schema extends z.ZodType
    ? z.input<Schema>
    : null
  : never;

/** Holds that a value is what the operation answers. `refuse` gets the first issue where it is not. */
export function assertOutput<O extends Operation>(
  { output }: O,
  value: unknown,
  refuse: (issue: z.core.$ZodIssue | undefined) => never,
): asserts value is OutputOf<O> {
  if (output === null) return value === null ? undefined : refuse(undefined);
  const { error } = output.safeParse(value);
  if (error !== undefined) refuse(error.issues[0]);
}

export type FailCode<O extends Operation> = O["errors"][number];

/** Returns whether the operation returns a bare array. */
export const isList = (operation: Operation): boolean => operation.output instanceof z.ZodArray;

/** Whether an operation is called with the key for the export and ingest services. */
export const takesExportKey = ({ service }: Operation): boolean => service !== "gateway";

/** Returns the side effects of a call with these arguments; a person must confirm them first. */
export const findSideEffects = (
  { effects }: Operation,
  args: CallArguments,
): readonly SideEffect[] => effects.filter(({ when }) => when === undefined || when(args));

/** Returns every action that an operation can have in the audit log. */
export const listAuditActions = ({ audit }: Operation): readonly string[] =>
  typeof audit === "string" ? [audit] : audit.actions;

/** Whether an operation deletes a record. */
export const isDeleting = ({ effects }: Operation): boolean =>
  effects.some(({ kind }) => kind === "deletes");

/** Returns the arguments of path, query and body in one object; their names are distinct. */
export const mergeArguments = (operation: Operation): Record<string, z.ZodType> => ({
  ...operation.params.shape,
  ...operation.query.shape,
  ...operation.body?.shape,
});

/** Returns the names of the `{parameters}` in a path, in order. */
export const parsePathParameters = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
