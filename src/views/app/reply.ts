import type { Fields } from "./host.ts";

export type Problem = {
  code: string;
  message: string;
  /** The time after which the server takes calls again. */
  retryAfterSeconds?: number;
};

/** The answer of a tool, its refusal, or the question that a person must answer first. */
export type Reply =
  | { kind: "answer"; answer: Fields }
  | { kind: "problem"; problem: Problem }
  | { kind: "question"; summary: string; token: string };
