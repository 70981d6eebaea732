import { DRY_RUN, nameDryRun } from "../contract/dry-run.ts";
import { createFieldProblem, Problem } from "../contract/errors.ts";
import { HELD_RIGHTS, operations, PASSWORD_PAGE, TENANT_TIME_ZONE } from "../contract/index.ts";
import type { CallArguments, Operation } from "../contract/operation.ts";
import { RELATIVE_DAYS } from "../contract/payments/relative-days.ts";
import { type Clock, SECOND, systemClock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { traced, traceHeaders } from "../kit/tracing.ts";
import { systemWait, type Wait } from "../kit/wait.ts";
import { withDeadline } from "./deadline.ts";
import { collectSecrets, redactSecrets } from "./redact.ts";
import { findSystemCode, type FaultKind, isUnsent, TransportFault } from "./fault.ts";
import {
  createCachedHealth,
  createHealth,
  createIdempotencySupport,
  type ReadHealth,
} from "./health.ts";
import { createLookups } from "./lookups.ts";
import type {
  CallOptions,
  Client,
  CredentialHeaders,
  Reply,
  Transport,
  WireReply,
  WireRequest,
} from "./port.ts";
import { isChanging, parseRequestId } from "./problem.ts";
import { parseReply } from "./reply.ts";
import { isLookup, buildRoute, type LookupForm } from "./request.ts";
import { type Repeatable, withRetries } from "./retry.ts";
import { isPermission, isScope, type Permission, type Scope } from "../contract/permissions.ts";

const MAX_CHARACTERS = 4000;

/** Returns the rights that an answer names; undefined if it names none. Unknown ones are left out. */
const parseHeldRights = ({
  headers,
}: Pick<WireReply, "headers">): (Permission | Scope)[] | undefined => {
  const text = headers[HELD_RIGHTS.header];
  if (text === undefined || text.length > MAX_CHARACTERS) return undefined;
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => isPermission(part) || isScope(part));
};

export type ClientNeeds = {
  transport: Transport;
  /** The neutral word of the `X-<Word>-…` headers. */
  headerWord: string;
  log: Log;
  wait?: Wait;
  clock?: Clock;
};

const FAULTS: Record<FaultKind, string> = {
  unknown_host: "The platform's address has a host name that cannot be found.",
  untrusted: "The platform's TLS certificate is not trusted, or it does not speak TLS.",
  refused: "The platform cannot be reached.",
  proxy: "The proxy on the way to the platform refuses the request, or asks for a user name.",
  no_proxy: "The proxy that HTTPS_PROXY or HTTP_PROXY names cannot be reached.",
  lost: "The connection to the platform was lost before its whole answer arrived.",
  garbled: "The platform's answer cannot be read.",
  timeout: "The platform did not answer in time.",
  too_large: "The platform's answer is too large to read; ask for fewer records.",
  canceled: "The call was canceled.",
};

/** The faults that only a change of settings or of the network ends. */
const MISCONFIGURED: ReadonlySet<FaultKind> = new Set(["unknown_host", "untrusted", "proxy"]);

const checkHeader = (name: string, value: string): string => {
  if (/^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(value)) return value;
  const message = "must be 1 to 255 printable ASCII characters";
  throw createFieldProblem("invalid_request", { field: name, code: "format", message });
};

const buildHeaders = (
  word: string,
  { accept, body }: { accept: string; body: string | null },
  credential: CredentialHeaders,
  { tool, confirmedBy, idempotencyKey, ifMatch, ifAbsent }: CallOptions,
): Record<string, string> => ({
  accept,
  ...(body === null ? {} : { "content-type": "application/json" }),
  ...(tool === undefined ? {} : { [`x-${word}-mcp-tool`]: tool }),
  ...(confirmedBy === undefined ? {} : { [`x-${word}-confirmed-by`]: confirmedBy }),
  [`x-${word}-client`]: "mcp",
  ...(idempotencyKey === undefined
    ? {}
    : { "idempotency-key": checkHeader("idempotencyKey", idempotencyKey) }),
  ...(ifMatch === undefined ? {} : { "if-match": checkHeader("ifMatch", ifMatch) }),
  ...(ifAbsent === true ? { "if-none-match": "*" } : {}),
  ...credential,
});

const toProblem = (operation: Operation, fault: TransportFault): Problem => {
  const { kind } = fault;
  return new Problem(
    "unavailable",
    FAULTS[kind],
    {
      ...(isChanging(operation) && !isUnsent(fault) ? { uncertain: true } : {}),
      ...(MISCONFIGURED.has(kind) ? { misconfigured: true } : {}),
    },
    fault,
  );
};

type Context = Required<ClientNeeds> & {
  lookUp: ReturnType<typeof createLookups>;
  readHealth: ReadHealth;
  idempotency: ReturnType<typeof createIdempotencySupport>;
};

/** One call: what the caller passed, and the signal that ends it. */
type Call<O extends Operation = Operation> = {
  operation: O;
  args: CallArguments;
  credential: CredentialHeaders;
  options: CallOptions;
  signal: AbortSignal;
};

const decideRepeatable = async (
  { idempotency }: Context,
  { operation, options, signal }: Call,
): Promise<Repeatable> => {
  const { effect, repeatable, service } = operation;
  const { idempotencyKey, ifMatch, ifAbsent } = options;
  if (effect === "read") return "always";
  if (effect === "create" && idempotencyKey !== undefined) {
    return (await idempotency.ask(service, signal)) ? "always" : "never";
  }
  if (!repeatable) return "never";
  // A conditional PUT that succeeded would fail its own condition at the second attempt.
  return ifMatch === undefined && ifAbsent !== true ? "always" : "unsent";
};

const buildRequest = (context: Context, call: Call, form: LookupForm): WireRequest => {
  const { operation, args, credential, options, signal } = call;
  const { service, file } = operation;
  const route = buildRoute(operation, args, form);
  const accept = file ? "*/*" : "application/json";
  const word = context.headerWord.toLowerCase();
  const headers = buildHeaders(word, { accept, body: route.body }, credential, options);
  const limit = file ? { maxFileBytes: options.maxFileBytes ?? 0 } : {};
  return { service, ...route, headers, signal, ...limit };
};

/** Sends one request of a call, with retries, and redacts the call's secrets from the response. */
const exchange = (
  context: Context,
  call: Call,
  form: LookupForm,
  repeatable: () => Promise<Repeatable>,
): Promise<WireReply> => {
  const { transport, idempotency, log, wait, clock } = context;
  const { operation, signal } = call;
  const secrets = collectSecrets(call.credential, call.args);
  const request = buildRequest(context, call, form);
  const bounds = { wait, signal, requestMs: transport.requestMs, now: clock, repeatable };
  const send = async (): Promise<WireReply> => {
    const headers = { ...request.headers, ...traceHeaders() };
    const reply = redactSecrets(await transport.send({ ...request, headers }), secrets);
    idempotency.note(operation.service, reply);
    const rights = parseHeldRights(reply);
    if (rights !== undefined) call.options.onRights?.(rights);
    const requestId = parseRequestId(reply.headers["x-request-id"]);
    log.debug("platform.called", { operation: operation.id, status: reply.status, requestId });
    return reply;
  };
  const { method } = request;
  const attributes = { "http.request.method": method, "url.template": operation.path };
  return traced(
    () => `${method} ${operation.path}`,
    () => ({ kind: "client", attributes }),
    async (span) => {
      const reply = await withRetries(bounds, send);
      span.set({ "http.response.status_code": reply.status });
      if (reply.status >= 400) span.fail(String(reply.status));
      return reply;
    },
  );
};

const perform = async <O extends Operation>(context: Context, call: Call<O>): Promise<Reply<O>> => {
  const { transport, log, clock, lookUp } = context;
  const { operation, args } = call;
  const read = (reply: WireReply): Promise<Reply<O>> =>
    parseReply({ operation, log, now: clock }, reply);
  if (isLookup(operation) && transport.getWithBody) {
    const ask = (form: LookupForm, repeatable: Repeatable): Promise<WireReply> =>
      exchange(context, call, form, async () => repeatable);
    return lookUp({ operation, args, read, ask });
  }
  const form = transport.getWithBody ? "documented" : "postAlias";
  return read(await exchange(context, call, form, () => decideRepeatable(context, call)));
};

/** Converts a failure to the Problem that the caller gets, and logs a missing response. */
const describeFailure = (
  context: Context,
  operation: Operation,
  options: CallOptions,
  error: unknown,
): unknown => {
  if (error instanceof TransportFault) {
    const cause = findSystemCode(error.cause);
    context.log.warn("platform.no_answer", {
      operation: operation.id,
      why: error.kind,
      ...(cause === "" ? {} : { cause }),
    });
    return describeFailure(context, operation, options, toProblem(operation, error));
  }
  const { idempotencyKey } = options;
  if (!(error instanceof Problem) || error.details.uncertain !== true) return error;
  if (idempotencyKey === undefined || !context.idempotency.has(operation.service)) return error;
  return new Problem(error.code, error.message, { ...error.details, idempotencyKey }, error);
};

/** A call that can do without extensions waits no longer for their names. */
const HEALTH_MS = 5 * SECOND;

/** An extension is available where the service that answers it announces it. */
const readExtensions = async (
  { readHealth, transport }: Context,
  signal: AbortSignal | undefined,
  isNeeded: boolean,
): Promise<ReadonlySet<string>> => {
  const most = isNeeded ? transport.requestMs : HEALTH_MS;
  const bounded = AbortSignal.any([AbortSignal.timeout(most), ...(signal ? [signal] : [])]);
  const [gateway, exports] = await Promise.all([
    readHealth("gateway", bounded),
    readHealth("export", bounded),
  ]);
  const announcedBy = { gateway, export: exports, ingest: exports };
  const names = operations.flatMap(({ id, service, additions }) =>
    [id, `${id}.${additions?.name ?? ""}`].filter((name) =>
      announcedBy[service].extensions.includes(name),
    ),
  );
  const dryRuns = operations.flatMap((operation) =>
    announcedBy[operation.service].extensions.includes(DRY_RUN.name) ? [nameDryRun(operation)] : [],
  );
  const others = [PASSWORD_PAGE.name, HELD_RIGHTS.name, TENANT_TIME_ZONE].filter((name) =>
    gateway.extensions.includes(name),
  );
  const filters = exports.extensions.includes(RELATIVE_DAYS) ? [RELATIVE_DAYS] : [];
  return new Set([...names, ...dryRuns, ...others, ...filters]);
};

/** Creates the client: the only place that maps operations to HTTP requests and responses to records. */
export const createClient = (needs: ClientNeeds): Client => {
  const { transport } = needs;
  const { clock = systemClock } = needs;
  const context: Context = {
    wait: systemWait,
    ...needs,
    clock,
    lookUp: createLookups(),
    readHealth: createCachedHealth(transport, clock),
    idempotency: createIdempotencySupport(createHealth(transport)),
  };
  return {
    async call(operation, args, credential, options) {
      try {
        return await withDeadline(transport.requestMs, options.signal, (signal) =>
          perform(context, { operation, args, credential, options, signal }),
        );
      } catch (error) {
        throw describeFailure(context, operation, options, error);
      }
    },
    extensions: (signal, isNeeded = false) => readExtensions(context, signal, isNeeded),
    close: () => transport.close(),
  };
};
