/** A question that a page of this server puts to a person. */
export type PageQuestion = {
  /** A random id, which is also that of the token that the person's yes makes valid. */
  id: string;
  question: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
};

export type Decision = "approved" | "declined";

/** The pages on which the person of one caller approves calls, in a browser in which they are signed in. */
export type Approvals = {
  /** Opens a page for a question and returns its address; undefined if the person has no signed-in browser. */
  open(question: PageQuestion): Promise<string | undefined>;
  /** Returns the person's decision; undefined as long as there is none. */
  decisionOf(id: string): Promise<Decision | undefined>;
};
