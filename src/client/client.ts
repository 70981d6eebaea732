import { Problem } from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";
import { type Clock, systemClock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { systemWait, type Wait } from "../kit/wait.ts";
import { withDeadline } from "./deadline.ts";
import { secretsOf, withoutEcho } from "./echo.ts";
import { codeOf, type FaultKind, isUnsent, TransportFault } from "./fault.ts";
import { createKeysHonoured } from "./keys-honoured.ts";
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
import { isChanging, requestIdOf } from "./problem.ts";
import { replyOf } from "./reply.ts";
import { isLookup, routeOf, type Way } from "./request.ts";
import { type Repeatable, withRetries } from "./retry.ts";

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
  lost: "The connection to the platform was lost before it answered.",
  garbled: "What the platform answered cannot be read.",
  timeout: "The platform did not answer in time.",
  too_large: "The platform's answer is too large to read; ask for fewer records.",
  canceled: "The call was canceled.",
};

const checkHeader = (name: string, value: string): string => {
  if (/^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(value)) return value;
  const message = "must be 1 to 255 printable ASCII characters";
  throw new Problem("invalid_request", `${name} ${message}.`, {
    errors: [{ field: name, code: "format", message }],
  });
};

const headersOf = (
  word: string,
  { accept, body }: { accept: string; body: string | null },
  credential: CredentialHeaders,
  { tool, idempotencyKey, ifMatch, ifAbsent }: CallOptions,
): Record<string, string> => ({
  accept,
  ...(body === null ? {} : { "content-type": "application/json" }),
  [`x-${word}-mcp-tool`]: tool,
  [`x-${word}-client`]: "mcp",
  ...(idempotencyKey === undefined
    ? {}
    : { "idempotency-key": checkHeader("idempotencyKey", idempotencyKey) }),
  ...(ifMatch === undefined ? {} : { "if-match": checkHeader("ifMatch", ifMatch) }),
  ...(ifAbsent === true ? { "if-none-match": "*" } : {}),
  ...credential,
});

const problemOfFault = (operation: Operation, fault: TransportFault): Problem => {
  const { kind } = fault;
  return new Problem(
    "unavailable",
    FAULTS[kind],
    {
      ...(isChanging(operation) && !isUnsent(fault) ? { uncertain: true } : {}),
      ...(kind === "unknown_host" || kind === "untrusted" ? { misconfigured: true } : {}),
    },
    fault,
  );
};

/** The platform's operations as calls: the one place that knows how each travels over HTTP. */
export const createClient = ({
  transport,
  headerWord,
  log,
  wait = systemWait,
  clock = systemClock,
}: ClientNeeds): Client => {
  const word = headerWord.toLowerCase();
  const { requestMs } = transport;
  const lookUp = createLookups();
  const keys = createKeysHonoured((request) => transport.send(request));

  const repeatableOf = async (
    operation: Operation,
    { idempotencyKey, ifMatch, ifAbsent }: CallOptions,
    signal: AbortSignal,
  ): Promise<Repeatable> => {
    const { effect, method, service } = operation;
    if (effect === "read") return "always";
    if (effect === "create" && idempotencyKey !== undefined) {
      return (await keys.ask(service, signal)) ? "always" : "never";
    }
    if (method !== "PUT") return "never";
    // One with a condition that did happen would look like somebody else's at the second try.
    return ifMatch === undefined && ifAbsent !== true ? "always" : "unsent";
  };

  const perform = async (
    operation: Operation,
    args: Record<string, unknown>,
    credential: CredentialHeaders,
    options: CallOptions,
    signal: AbortSignal,
  ): Promise<Reply> => {
    const { service, file } = operation;
    const secrets = secretsOf(credential, args);
    const ask = (way: Way, repeatable: () => Promise<Repeatable>): Promise<WireReply> => {
      const route = routeOf(operation, args, way);
      const accept = file ? "*/*" : "application/json";
      const headers = headersOf(word, { accept, body: route.body }, credential, options);
      const more = file ? { maxFileBytes: options.maxFileBytes ?? 0 } : {};
      const request: WireRequest = { service, ...route, headers, signal, ...more };
      return withRetries({ wait, signal, requestMs, now: clock, repeatable }, async () => {
        const reply = withoutEcho(await transport.send(request), secrets);
        keys.note(service, reply);
        const requestId = requestIdOf(reply.headers["x-request-id"]);
        log.debug("platform.called", { operation: operation.id, status: reply.status, requestId });
        return reply;
      });
    };
    const read = (reply: WireReply): Reply => replyOf({ operation, log, now: clock }, reply);
    if (isLookup(operation) && transport.getWithBody) {
      return lookUp({ operation, args, read, ask: (way, may) => ask(way, async () => may) });
    }
    const way = transport.getWithBody ? "documented" : "twin";
    return read(await ask(way, () => repeatableOf(operation, options, signal)));
  };

  const asProblem = (operation: Operation, options: CallOptions, error: unknown): unknown => {
    if (error instanceof TransportFault) {
      const cause = codeOf(error.cause);
      log.warn("platform.no_answer", {
        operation: operation.id,
        why: error.kind,
        ...(cause === "" ? {} : { cause }),
      });
      return asProblem(operation, options, problemOfFault(operation, error));
    }
    const { idempotencyKey } = options;
    if (!(error instanceof Problem) || error.details.uncertain !== true) return error;
    if (idempotencyKey === undefined || !keys.has(operation.service)) return error;
    return new Problem(error.code, error.message, { ...error.details, idempotencyKey }, error);
  };

  return {
    async call(operation, args, credential, options) {
      try {
        return await withDeadline(requestMs, options.signal, (signal) =>
          perform(operation, args, credential, options, signal),
        );
      } catch (error) {
        throw asProblem(operation, options, error);
      }
    },
    close: () => transport.close(),
  };
};
