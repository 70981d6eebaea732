import type { Reply } from "./reply.ts";

/** Answers of reads, so that going back or choosing a filter again asks the server nothing. */
export type KnownAnswers = {
  get(key: string): Reply | undefined;
  set(key: string, reply: Reply): void;
  delete(key: string): void;
  /** Forgets all answers, because something was changed, and tells those who show one. */
  clear(): void;
  /** Whether answers from before a change are out of date. */
  isChanged(): boolean;
  /** Returns the function that ends the subscription. */
  onClear(listener: () => void): () => void;
};

/** Others change records too, so that an answer is soon out of date. */
const LIFE_MS = 60_000;
const MOST_ANSWERS = 100;

/** Creates an empty store of answers. */
export const createKnownAnswers = (now: () => number = () => performance.now()): KnownAnswers => {
  const answers = new Map<string, { reply: Reply; endsAt: number }>();
  const listeners = new Set<() => void>();
  let isChanged = false;
  return {
    get(key) {
      const found = answers.get(key);
      return found !== undefined && found.endsAt > now() ? found.reply : undefined;
    },
    set(key, reply) {
      answers.delete(key);
      answers.set(key, { reply, endsAt: now() + LIFE_MS });
      const [oldest] = answers.keys();
      if (answers.size > MOST_ANSWERS && oldest !== undefined) answers.delete(oldest);
    },
    delete: (key) => void answers.delete(key),
    clear() {
      isChanged = true;
      answers.clear();
      for (const listener of listeners) listener();
    },
    isChanged: () => isChanged,
    onClear(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};
