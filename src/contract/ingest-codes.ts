import type { Code } from "./errors.ts";

const RENAMED_CODES: Partial<Record<Code, string>> = {
  unauthenticated: "unauthorized",
  forbidden_permission: "forbidden",
  forbidden_tenant: "forbidden",
};

/** The ingest API's word for what it refuses: mostly the code itself. */
export const toIngestCode = (code: Code): string => RENAMED_CODES[code] ?? code;
