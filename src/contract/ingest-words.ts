import type { Code } from "./errors.ts";

const WORDS: Partial<Record<Code, string>> = {
  unauthenticated: "unauthorized",
  forbidden_permission: "forbidden",
  forbidden_tenant: "forbidden",
};

/** The ingest API's word for what it refuses: mostly the code itself. */
export const ingestWord = (code: Code): string => WORDS[code] ?? code;
