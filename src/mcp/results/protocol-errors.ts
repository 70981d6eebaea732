import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { Problem, ERRORS } from "../../contract/errors.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { type Carrier, traced } from "../../kit/tracing.ts";
import { sanitizeLine } from "./sanitize.ts";

/** Data of a protocol error, from which a host learns whether and when a retry can succeed. */
const problemData = ({ code, details: { retryAfterSeconds } }: Problem) => ({
  code,
  retry: ERRORS[code].retry,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

/** Converts a Problem at a resource URI into the protocol's error; returns any other error unchanged. */
export const protocolError = (uri: string, error: unknown): unknown => {
  if (!(error instanceof Problem)) return error;
  if (error.status === 404) return new ResourceNotFoundError(uri);
  const message = `${error.code}: ${sanitizeLine(error.message, 500)}`;
  return new ProtocolError(ProtocolErrorCode.InternalError, message, problemData(error));
};

const MOST_CHARACTERS = 700;

const TOOL_NAME = /^[a-z0-9_.-]{1,64}$/;

/** The parameters that name a span; they are foreign text. */
type About = { name?: unknown; _meta?: Carrier | undefined };

/** Runs a handler within a span that continues the trace of the request's `_meta`, or of its HTTP request. */
const traceRequest = <R>(method: string, request: unknown, act: () => Promise<R>): Promise<R> => {
  const { name, _meta: parent } = (request as { params?: About }).params ?? {};
  const tool = typeof name === "string" && TOOL_NAME.test(name) ? name : undefined;
  const attributes = {
    "mcp.method.name": method,
    ...(tool === undefined ? {} : { "gen_ai.tool.name": tool }),
  };
  return traced(
    () => (tool === undefined ? method : `${method} ${tool}`),
    () => ({ kind: "server", attributes, parent }),
    async (span) => {
      const result = await act();
      if ((result as { isError?: unknown }).isError === true) span.fail("tool_error");
      return result;
    },
  );
};

/** Wraps a handler: an unexpected error is logged and answered as an internal error without its message. */
export const guardErrors =
  <R, A extends unknown[]>(log: Log, method: string, handle: (...args: A) => Promise<R>) =>
  async (...args: A): Promise<R> => {
    try {
      return await traceRequest(method, args[0], () => handle(...args));
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      // A fault in the caller's own configuration, such as a missing profile, which the caller can correct.
      if (error instanceof Problem) {
        const description = `${error.code}: ${sanitizeLine(error.message, MOST_CHARACTERS)}`;
        throw new ProtocolError(ProtocolErrorCode.InternalError, description, problemData(error));
      }
      log.error("mcp.failed", { method, ...toErrorFields(error) });
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        "Something went wrong in this server.",
      );
    }
  };
