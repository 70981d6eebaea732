import type { Call, Confirmation, Session } from "./session.ts";

export type Table = {
  head: readonly string[];
  rows: readonly (readonly (string | number)[])[];
  /** Places of the columns with numbers. */
  numeric?: readonly number[];
};

/** Sentences and tables. */
export type Answer = (string | Table)[];

/** A question of an analyst, and the function that answers it from tool results. */
export type Question = {
  question: string;
  /** Text that the analyst pastes below the question. */
  pasted?: string;
  answer: (session: Session) => Promise<Answer>;
};

export type Conversation = { title: string; questions: readonly Question[] };

/** A question with its answer and the calls that led to it. */
export type Turn = {
  conversation: string;
  question: string;
  pasted?: string;
  calls: Call[];
  confirmations: Confirmation[];
  answer: Answer;
};

/** Asks the questions in order and yields each with its answer. */
export async function* hold(
  session: Session,
  { title, questions }: Conversation,
): AsyncGenerator<Turn> {
  for (const { answer, ...question } of questions) {
    const found = await answer(session);
    yield { conversation: title, ...question, ...session.takeRecords(), answer: found };
  }
}
