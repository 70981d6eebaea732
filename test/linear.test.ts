import { checkSync } from "recheck";
import { describe, expect, it } from "vitest";
import { growthOf, isMeasurable, MOST_GROWTH, type Work } from "./support/growth.ts";
import { type Pattern, patternsOfSources } from "./support/patterns.ts";
import { pumped, pumpsOf } from "./support/pumps.ts";
import { verifies } from "./support/verifies.ts";

const { literals, constructed } = patternsOfSources();

/** Matches as the sources do: once, or at each place where the pattern is global. */
const matching = ({ source, flags }: Pattern, textOf: (size: number) => string): Work => {
  const pattern = new RegExp(source, flags);
  const texts = new Map<number, string>();
  return (size) => {
    const text = texts.get(size) ?? textOf(size);
    texts.set(size, text);
    pattern.lastIndex = 0;
    if (pattern.global) text.replace(pattern, "");
    else pattern.test(text);
  };
};

/** Small enough for a cubic pattern to end, large enough for a quadratic one to be noticed. */
const SCREENED = [512, 8192];
const SIZES = { from: 512, to: 65_536 };

const attacksOn = (pattern: Pattern): string[] =>
  pumpsOf(pattern).flatMap((pump) => {
    const work = matching(pattern, (size) => pumped(pump, size));
    if (!SCREENED.some((size) => isMeasurable(work, size))) return [];
    const growth = growthOf(work, SIZES);
    return growth > MOST_GROWTH ? [`${JSON.stringify(pump)} grows by ${growth.toFixed(1)}`] : [];
  });

verifies("C-88");
describe("regular expressions", () => {
  it("are found in the sources", () => {
    expect(literals.length).toBeGreaterThan(200);
    expect(constructed).toEqual([
      // Escaped words of a fixed list, a setting, or a date format: each in a test of its own.
      "src/contract/sensitive-answers.ts",
      "src/mcp/calls/call-log.ts",
      "src/platform/import/dates.ts",
      "src/platform/scan/formats/pdf.ts",
    ]);
  });

  it("are linear by their automata", () => {
    const vulnerable = literals.filter(({ source, flags }) => {
      const { status } = checkSync(source, flags, { checker: "automaton", timeout: 1000 });
      return status === "vulnerable";
    });
    expect(vulnerable).toEqual([]);
  }, 180_000);

  it("are linear in the length of each attack that is made of their own parts", () => {
    const found = literals.map((pattern) => ({ pattern, attacks: attacksOn(pattern).slice(0, 3) }));
    expect(found.filter(({ attacks }) => attacks.length > 0)).toEqual([]);
  }, 180_000);
});
