import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { ERRORS, Problem } from "../../contract/errors.ts";
import { sanitizeLine } from "./sanitize.ts";

/** Data of a protocol error, from which a host learns whether and when a retry can succeed. */
export const problemData = ({ code, details: { retryAfterSeconds } }: Problem) => ({
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
