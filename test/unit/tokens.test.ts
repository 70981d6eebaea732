import fc from "fast-check";
import { expect, it } from "vitest";
import { estimateTokens, isWithin } from "../../src/mcp/results/tokens.ts";

it("skips counting only for texts that cannot exceed the limit", () => {
  const anyText = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.string({ unit: fc.constantFrom("😀", "ༀ", "a", "Z9", "!", "\n"), maxLength: 60 }),
  );
  fc.assert(
    fc.property(anyText, fc.integer({ min: 0, max: 200 }), (text, tokens) => {
      expect(isWithin(text, tokens)).toBe(estimateTokens(text) <= tokens);
    }),
  );
});
