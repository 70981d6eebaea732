import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { Problem } from "../../contract/errors.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { problemData } from "./protocol-error.ts";
import { sanitizeLine } from "./sanitize.ts";

const MOST_CHARACTERS = 700;

/** Wraps a handler: an unexpected error is logged and answered as an internal error without its message. */
export const guardErrors =
  <R, A extends unknown[]>(log: Log, method: string, handle: (...args: A) => Promise<R>) =>
  async (...args: A): Promise<R> => {
    try {
      return await handle(...args);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      // A fault in the caller's own configuration, such as a missing profile, which the caller can correct.
      if (error instanceof Problem) {
        const said = `${error.code}: ${sanitizeLine(error.message, MOST_CHARACTERS)}`;
        throw new ProtocolError(ProtocolErrorCode.InternalError, said, problemData(error));
      }
      log.error("mcp.failed", { method, ...toErrorFields(error) });
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        "Something went wrong in this server.",
      );
    }
  };
