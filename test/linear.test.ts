import { describe, expect, it } from "vitest";
import { attackOn, measuredAttackOn } from "./support/backtracking.ts";
import { patternsOfSources } from "./support/patterns.ts";
import { verifies } from "./support/verifies.ts";

const { literals, constructed } = patternsOfSources();

const patternOf = ({ source, flags }: RegExp) => ({ place: "sample", source, flags });

verifies("C-88");
describe("regular expressions of the sources", () => {
  it("are literals, except for a few made of fixed words", () => {
    expect(literals.length).toBeGreaterThan(200);
    expect(constructed).toEqual([
      "src/contract/sensitive-answers.ts",
      "src/mcp/tools/call-log.ts",
      "src/platform/import/dates.ts",
    ]);
  });

  it("take linear time on every text", () => {
    const attacks = literals.flatMap((pattern) => {
      const attack = attackOn(pattern);
      return attack === undefined ? [] : [`${pattern.place} /${pattern.source}/ ${attack}`];
    });
    expect(attacks).toEqual([]);
  }, 180_000);
});

verifies("C-88");
describe("the measuring search for texts that make a pattern slow", () => {
  it.each([
    ["a quadratic end of line", /\s+$/],
    ["a quadratic number of beginnings", /<a[^>]*b>/],
    ["quadratic white space before the name of a tag", /<(?=\s*\/?\s*(?:img|image|svg|form)\b)/gi],
    ["a cubic sequence", /^\d*[0-9]*\d*x/],
    ["an exponential repetition", /^(\w+\s?)+$/],
    ["an exponential alternative", /^(a|aa)+$/],
  ])("finds %s", (_name, pattern) => {
    expect(measuredAttackOn(patternOf(pattern))).toBeDefined();
  });

  it("reports a pattern that does not end, and ends itself", () => {
    const pattern = patternOf(/^(?:\w{8}|\w{9})+$/);
    expect(measuredAttackOn(pattern, 500)).toBeDefined();
  });

  it("finds nothing against linear patterns", () => {
    const linear = [/^[\w.-]{1,64}$/, /[^a-z0-9]+/gi, /^(?:\d+,)*\d+$/];
    expect(linear.map((pattern) => measuredAttackOn(patternOf(pattern)))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
