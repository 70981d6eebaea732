import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { type Clock, SECOND } from "../kit/clock.ts";
import type { Page } from "./page.ts";

/** A double click sends a form twice, and the browser shows the answer to the second one only. */
const REPEAT_MS = 30 * SECOND;
const MAX_FORMS = 200;

/** Shorter values of the field `form` are not this server's. */
const MIN_TOKEN_LENGTH = 40;

/** The page that a form led to; `isDone`: the form had its effect, which must not happen twice. */
export type Outcome = { page: Page; isDone: boolean };

export type Repeats = {
  /** Runs `act`, or returns the page of the same form that was sent a moment ago. */
  answer(path: string, form: URLSearchParams, act: () => Promise<Outcome>): Promise<Page>;
};

/**
 * Creates the memory of forms that had their effect: the same form sent again, with the random token of its page, is
 * answered with the same page. A form that was refused may be sent again.
 */
export const createRepeats = (now: Clock): Repeats => {
  const outcomes = new LRUCache<string, Promise<Outcome>>({
    max: MAX_FORMS,
    ttl: REPEAT_MS,
    ttlResolution: 0,
    perf: { now },
  });
  const run = async (key: string, act: () => Promise<Outcome>): Promise<Page> => {
    const outcome = act();
    outcomes.set(key, outcome);
    try {
      const { page, isDone } = await outcome;
      if (!isDone) outcomes.delete(key);
      return page;
    } catch (error) {
      outcomes.delete(key);
      throw error;
    }
  };
  return {
    async answer(path, form, act) {
      if ((form.get("form") ?? "").length < MIN_TOKEN_LENGTH) return (await act()).page;
      const key = hash("sha256", `${path}?${form.toString()}`, "base64url");
      const former = outcomes.get(key);
      return former === undefined ? run(key, act) : (await former).page;
    },
  };
};
