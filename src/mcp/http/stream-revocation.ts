import { type Clock, SECOND } from "../../kit/clock.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import type { CallerAuthInfo } from "../caller.ts";
import type { Gate } from "./gate.ts";
import { isEventStream } from "./responses.ts";

const REVOCATION_CHECK_MS = 10 * SECOND;

export type StreamRevocation = {
  /** Returns the response; a stream in it is closed when the caller's token is revoked, expires or loses a scope. */
  watch(request: Request, authInfo: CallerAuthInfo, response: Response): Response;
  close(): void;
};

/** An open stream: its request without a body, and the result of its authentication. */
type Stream = { request: Request; authInfo: CallerAuthInfo; end(): void };

type Context = { gate: Gate; now: Clock; streams: Set<Stream> };

const copyAuthorization = ({ url, headers }: Request): Request => {
  const authorization = headers.get("authorization");
  return new Request(url, { headers: authorization === null ? {} : { authorization } });
};

const isRevoked = (
  { authInfo }: Stream,
  current: CallerAuthInfo | Response,
  now: number,
): boolean => {
  if ((authInfo.expiresAt ?? Infinity) * SECOND <= now) return true;
  // 503: the issuer is down, so the last known state holds.
  if (current instanceof Response) return current.status !== 503;
  const { caller } = authInfo.extra;
  const { id, grant } = current.extra.caller;
  const isSame = id === caller.id && grant === caller.grant;
  return !isSame || !authInfo.scopes.every((scope) => current.scopes.includes(scope));
};

/** Checks the token of each stream, once for all streams of a token. */
const endRevokedStreams = async ({ gate, now, streams }: Context): Promise<void> => {
  const results = new Map<string | null, ReturnType<Gate["admit"]>>();
  const check = async (stream: Stream): Promise<void> => {
    const token = stream.request.headers.get("authorization");
    const result = results.get(token) ?? gate.admit(stream.request);
    results.set(token, result);
    if (isRevoked(stream, await result, now())) stream.end();
  };
  await Promise.all([...streams].map(check));
};

/** Closes streams whose token was revoked, has expired or identifies another caller. */
export const createStreamRevocation = (
  { gate, now, log }: { gate: Gate; now: Clock; log: Log },
  everyMs = REVOCATION_CHECK_MS,
): StreamRevocation => {
  const streams = new Set<Stream>();
  let isChecking = false;
  const check = async (): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    await endRevokedStreams({ gate, now, streams })
      .catch((error: unknown) => log.warn("mcp.stream_check_failed", toErrorFields(error)))
      .finally(() => {
        isChecking = false;
      });
  };
  const timer = setInterval(() => void check(), everyMs).unref();

  return {
    watch(request, authInfo, response) {
      if (!isEventStream(response) || response.body === null) return response;
      const stream: Stream = { request: copyAuthorization(request), authInfo, end() {} };
      const forget = (): void => {
        streams.delete(stream);
      };
      const watched = new TransformStream<Uint8Array, Uint8Array>({
        start(controller) {
          stream.end = () => {
            forget();
            controller.terminate();
          };
        },
        flush: forget,
        cancel: forget,
      });
      streams.add(stream);
      return new Response(response.body.pipeThrough(watched), response);
    },
    close: () => clearInterval(timer),
  };
};
