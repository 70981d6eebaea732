import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { Problem } from "../../contract/errors.ts";
import { errorFields, type Log } from "../../kit/log.ts";
import { sanitizeLine } from "./sanitize.ts";

const MOST_CHARACTERS = 700;

/** What is not meant for the caller is logged and told as a fault of ours, without its text. */
export const guardErrors =
  <R, A extends unknown[]>(log: Log, method: string, handle: (...args: A) => Promise<R>) =>
  async (...args: A): Promise<R> => {
    try {
      return await handle(...args);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      // What the caller's way to the platform lacks, such as a profile: they can see to it.
      if (error instanceof Problem) {
        const said = `${error.code}: ${sanitizeLine(error.message, MOST_CHARACTERS)}`;
        throw new ProtocolError(ProtocolErrorCode.InternalError, said);
      }
      log.error("mcp.failed", { method, ...errorFields(error) });
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        "Something went wrong in this server.",
      );
    }
  };
