import { describe, expect, it } from "vitest";
import {
  countRemoved,
  sanitize,
  sanitizeLine,
  sanitizeText,
} from "../../src/mcp/results/sanitize.ts";
import { ESC, HARMLESS, HOSTILE } from "./hostile.ts";
import { verifies } from "../support/verifies.ts";

verifies("C-74", "C-102");
describe("text from outside", () => {
  it.each(HOSTILE)("loses %s", (_what, text, left) => {
    expect(sanitizeText(text)).toBe(left);
  });

  verifies("C-115");
  it("keeps all text beside a control of a wrong encoding, and names what is removed", () => {
    for (const point of [0x90, 0x98, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f]) {
      const text = `before${String.fromCodePoint(point)} after`;
      expect(sanitizeText(text), point.toString(16)).toBe("before after");
      expect([...countRemoved(text)]).toEqual([[`U+00${point.toString(16).toUpperCase()}`, 1]]);
    }
    const title = countRemoved(`${ESC}]0;owned\u0007text\u202e\u202e`);
    expect(Object.fromEntries(title)).toEqual({ "a terminal sequence": 1, "U+202E": 2 });
  });

  it.each(HARMLESS)("keeps what can be seen: %s", (text) => {
    expect(sanitizeText(text)).toBe(text);
  });

  it("contains no invisible character after sanitizing", () => {
    const seen = /^[\n\t]$|^(?![\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])/u;
    const unclean: string[] = [];
    for (let point = 0; point <= 0x10_ffff; point += 1) {
      const left = sanitizeText(`a${String.fromCodePoint(point)}b`).slice(1, -1);
      if (left !== "" && !seen.test(left)) unclean.push(point.toString(16));
    }
    expect(unclean).toEqual([]);
  });

  it("is not changed by a second pass", () => {
    for (const [, text] of HOSTILE)
      expect(sanitizeText(sanitizeText(text))).toBe(sanitizeText(text));
  });

  it("is sanitized at every depth, in keys too", () => {
    const value = { "k\u200bey": [{ note: `${ESC}[1mx` }, 5, null, true], plain: "same" };
    expect(sanitize(value)).toEqual({ key: [{ note: "x" }, 5, null, true], plain: "same" });
  });

  it("becomes one line inside a sentence", () => {
    expect(sanitizeLine("a\nb\u202e\t c", 50)).toBe("a b c");
    expect(sanitizeLine("x".repeat(60), 10)).toBe(`${"x".repeat(9)}…`);
  });
});
