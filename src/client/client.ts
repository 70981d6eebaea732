import { Problem } from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";
import type { Log } from "../kit/log.ts";
import { systemWait, type Wait } from "../kit/wait.ts";
import { type FaultKind, TransportFault } from "./fault.ts";
import type { CallOptions, Client, CredentialHeaders, Transport, WireRequest } from "./port.ts";
import { replyOf } from "./reply.ts";
import { routeOf } from "./request.ts";
import { type Repeatable, withRetries } from "./retry.ts";

export type ClientNeeds = {
  transport: Transport;
  /** The neutral word of the `X-<Word>-…` headers. */
  headerWord: string;
  log: Log;
  wait?: Wait;
};

const FAULTS: Record<FaultKind, string> = {
  refused: "The platform cannot be reached.",
  lost: "The connection to the platform was lost before it answered.",
  timeout: "The platform did not answer in time.",
  too_large: "The platform's answer is too large to read; ask for fewer records.",
  canceled: "The call was canceled.",
};

// A change with a condition that did happen would look like somebody else's at the second try.
const repeatable = (operation: Operation, options: CallOptions): Repeatable => {
  if (operation.effect === "read") return "always";
  if (operation.method !== "PUT") return "never";
  return options.ifMatch === undefined && options.ifAbsent !== true ? "always" : "unsent";
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

const asProblem = (error: unknown): unknown =>
  error instanceof TransportFault
    ? new Problem("unavailable", FAULTS[error.kind], {}, error)
    : error;

/** The platform's operations as calls: the one place that knows how each travels over HTTP. */
export const createClient = ({
  transport,
  headerWord,
  log,
  wait = systemWait,
}: ClientNeeds): Client => {
  const word = headerWord.toLowerCase();

  const exchange = async (operation: Operation, request: WireRequest) => {
    const reply = await transport.send(request);
    log.debug("platform.called", {
      operation: operation.id,
      status: reply.status,
      requestId: reply.headers["x-request-id"],
    });
    return replyOf(log, operation, reply);
  };

  return {
    async call(operation, args, credential, options) {
      const { method, target, body } = routeOf(operation, args, transport.getWithBody);
      const request: WireRequest = {
        service: operation.service,
        method,
        target,
        headers: headersOf(
          word,
          { accept: operation.file ? "*/*" : "application/json", body },
          credential,
          options,
        ),
        body,
        signal: options.signal,
        ...(operation.file ? { maxFileBytes: options.maxFileBytes ?? 0 } : {}),
      };
      try {
        return await withRetries(wait, repeatable(operation, options), options.signal, () =>
          exchange(operation, request),
        );
      } catch (error) {
        if (error instanceof TransportFault) {
          log.warn("platform.no_answer", { operation: operation.id, why: error.kind });
        }
        throw asProblem(error);
      }
    },
    close: () => transport.close(),
  };
};
