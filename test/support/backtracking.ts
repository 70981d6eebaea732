import { createContext, runInContext } from "node:vm";
import { checkSync } from "recheck";
import { growthAt, isMeasurable, MAX_GROWTH, type Work } from "./growth.ts";
import type { Pattern } from "./patterns.ts";
import { type Pump, pumped, pumpsOf } from "./pumps.ts";

// Every linear or quadratic pattern matches a text this short at once.
const SHORT = [16, 22, 28, 34, 40, 48, 64, 80, 96, 112, 128];
// In steps, so that a cubic pattern is noticed before it takes minutes. A quadratic one takes 10 ms at the last size.
const LONG = [256, 512, 1024, 2048, 4096, 8192];
/** The engine interrupts the search then: a pattern took exponential time at one of these sizes. */
const TIMEOUT_MS = 10_000;

/** Matches as the sources do: once, or at each place where the pattern is global. */
const matching = ({ source, flags }: Pattern, pump: Pump): Work => {
  const pattern = new RegExp(source, flags);
  const texts = new Map<number, string>();
  return (size) => {
    let text = texts.get(size);
    if (text === undefined) texts.set(size, (text = pumped(pump, size)));
    pattern.lastIndex = 0;
    if (pattern.global) text.replace(pattern, "");
    else pattern.test(text);
  };
};

const attackBy = (pattern: Pattern, pump: Pump): string | undefined => {
  const work = matching(pattern, pump);
  const short = SHORT.find((size) => isMeasurable(work, size));
  if (short !== undefined) return `takes milliseconds for ${short} characters`;
  const size = LONG.find((length) => isMeasurable(work, length));
  const growth = size === undefined ? 0 : growthAt(work, size);
  return growth > MAX_GROWTH ? `grows by ${growth.toFixed(1)} when the text doubles` : undefined;
};

/** Searches by measuring, in bounded time. Returns the first text that makes the pattern slow, or undefined. */
export const measuredAttackOn = (pattern: Pattern, timeout = TIMEOUT_MS): string | undefined => {
  let tried = "";
  const search = (): string | undefined => {
    for (const pump of pumpsOf(pattern)) {
      tried = JSON.stringify(pump);
      const effect = attackBy(pattern, pump);
      if (effect !== undefined) return `${tried} ${effect}`;
    }
    return undefined;
  };
  try {
    return runInContext("search()", createContext({ search }), { timeout }) as string | undefined;
  } catch (error) {
    // The error belongs to the other context, where Error is another class.
    if ((error as { code?: string }).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    return `${tried} does not end`;
  }
};

const PROOF_MS = 400;

/**
 * Returns a text that makes the pattern take more than linear time, or undefined: by its automaton, and by measuring
 * where the automaton checker does not support the syntax or gives up.
 */
export const attackOn = (pattern: Pattern): string | undefined => {
  const { source, flags } = pattern;
  const proof = checkSync(source, flags, { checker: "automaton", timeout: PROOF_MS });
  if (proof.status === "vulnerable") return proof.attack.pattern;
  return proof.status === "safe" ? undefined : measuredAttackOn(pattern);
};
