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
  | Question;

/** A call that waits for a person: a ticket carries it out, a token is sent with the call again. */
export type Question = { kind: "question"; summary: string; expiresAt?: string } & (
  | { ticket: string }
  | { token: string }
);
