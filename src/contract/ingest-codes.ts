import type { Code } from "./errors.ts";

const RENAMED_CODES: Partial<Record<Code, string>> = {
  unauthenticated: "unauthorized",
  forbidden_permission: "forbidden",
  forbidden_tenant: "forbidden",
};

/** Returns the ingest API's name of an error code; most codes have the same name. */
export const toIngestCode = (code: Code): string => RENAMED_CODES[code] ?? code;
