import { type Clock, SECOND } from "../../kit/clock.ts";
import { errorFields, type Log } from "../../kit/log.ts";
import type { CallerAuthInfo } from "../caller.ts";
import type { Gate } from "./gate.ts";

/** Interval between checks of the tokens of open streams, in milliseconds. */
export const REVOCATION_CHECK_MS = 10 * SECOND;

export type StreamRevocation = {
  /** Returns the response; a stream in it is closed when the caller's token is revoked, expires or loses a scope. */
  hold(request: Request, caller: CallerAuthInfo, response: Response): Response;
  count(): number;
  close(): void;
};

type Lease = { request: Request; caller: CallerAuthInfo; end(): void };

const isStream = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") === true;

/** Returns a request with the Authorization header alone. */
const bare = ({ url, headers }: Request): Request => {
  const authorization = headers.get("authorization");
  return new Request(url, { headers: authorization === null ? {} : { authorization } });
};

/** Closes streams whose token was revoked, has expired or identifies another caller. */
export const createStreamRevocation = (
  { gate, now, log }: { gate: Gate; now: Clock; log: Log },
  everyMs = REVOCATION_CHECK_MS,
): StreamRevocation => {
  const leases = new Set<Lease>();
  let looking = false;

  const isOver = ({ caller }: Lease, again: CallerAuthInfo | Response): boolean => {
    if ((caller.expiresAt ?? Infinity) * SECOND <= now()) return true;
    // 503: the issuer is down, so the last known state holds.
    if (again instanceof Response) return again.status !== 503;
    const { caller: then } = caller.extra;
    const { caller: current } = again.extra;
    const isSame = current.id === then.id && current.grant === then.grant;
    return !isSame || !caller.scopes.every((scope) => again.scopes.includes(scope));
  };

  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    // Several streams share a token; each token is checked once.
    const answers = new Map<string | null, ReturnType<Gate["admit"]>>();
    const judge = async (lease: Lease): Promise<void> => {
      const token = lease.request.headers.get("authorization");
      const answer = answers.get(token) ?? gate.admit(lease.request);
      answers.set(token, answer);
      if (isOver(lease, await answer)) lease.end();
    };
    try {
      await Promise.all([...leases].map(judge));
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => {
    look().catch((error: unknown) => log.warn("mcp.leases", errorFields(error)));
  }, everyMs).unref();

  return {
    hold(request, caller, response) {
      if (!isStream(response) || response.body === null) return response;
      const lease: Lease = { request: bare(request), caller, end() {} };
      const forget = (): void => {
        leases.delete(lease);
      };
      const watched = new TransformStream<Uint8Array, Uint8Array>({
        start(control) {
          lease.end = () => {
            forget();
            control.terminate();
          };
        },
        flush: forget,
        cancel: forget,
      });
      leases.add(lease);
      return new Response(response.body.pipeThrough(watched), response);
    },
    count: () => leases.size,
    close: () => clearInterval(timer),
  };
};
