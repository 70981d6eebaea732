import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { Problem } from "../contract/errors.ts";
import { cleanLine } from "./answer/clean.ts";

/** What a host is told where something goes wrong at an address. */
export const protocolError = (uri: string, error: unknown): unknown => {
  if (!(error instanceof Problem)) return error;
  if (error.status === 404) return new ResourceNotFoundError(uri);
  const message = `${error.code}: ${cleanLine(error.message, 500)}`;
  return new ProtocolError(ProtocolErrorCode.InternalError, message, { code: error.code });
};
