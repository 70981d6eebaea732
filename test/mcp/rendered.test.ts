import MarkdownIt from "markdown-it";
import { expect, it } from "vitest";
import { sanitizeText } from "../../src/mcp/results/sanitize.ts";
import { verifies } from "../support/verifies.ts";
import { HOSTILE } from "./hostile.ts";

// The most permissive renderer that a host may use: raw HTML passes. It does not make links of bare addresses.
const renderer = new MarkdownIt("commonmark", { html: true });

/** Returns the token types of a rendered text, such as `link_open`. */
const partsOf = (text: string): Set<string> =>
  new Set(
    renderer
      .parse(text, {})
      .flatMap(({ type, children }) => [type, ...(children ?? []).map((child) => child.type)]),
  );

const ACTIVE = ["link_open", "image", "html_inline", "html_block", "fence"];

const activeIn = (text: string): string[] => {
  const parts = partsOf(text);
  return ACTIVE.filter((part) => parts.has(part));
};

const SAMPLES = [
  ...HOSTILE.map(([, text]) => text),
  "[a](https://e.example)",
  "[a][r]\n\n[r]: https://e.example",
  "[r]\n\n[r]:\n  https://e.example",
  "![a][r]\n\n[r]: <https://e.example>",
  "<https://e.example>",
  "<someone@e.example>",
  "<!-- a --><?php ?><![CDATA[x]]><!DOCTYPE html>",
  "<details><summary>x</summary></details>",
  "```mermaid\nclick A https://e.example\n```",
  "~~~html\n<img src=x>\n~~~",
  String.raw`\[a](https://e.example) \\[b](https://e.example) [c\](https://e.example)`,
  String.raw`\<img src=x> \\<img src=x> !\[a](b) \![a](b) \\![a](b)`,
  "[a]\u200b(https://e.example) [r]\u200b: https://e.example",
  "[![a](b)](c)",
];

const CONTEXTS: ((text: string) => string)[] = [
  (text) => text,
  (text) => `- item\n\n  ${text}`,
  (text) => `> ${text}`,
  (text) => `word ${text} word`,
  (text) => `${text}${text}`,
];

verifies("C-102");
it("renders foreign text without links, images, raw HTML and fenced blocks", () => {
  const active = SAMPLES.flatMap((text) =>
    CONTEXTS.map((inContext) => inContext(sanitizeText(text)))
      .filter((shown) => activeIn(shown).length > 0)
      .map((shown) => [shown, activeIn(shown)]),
  );
  expect(active).toEqual([]);
});

it("renders them all where the text is not escaped", () => {
  const found = new Set(SAMPLES.flatMap(activeIn));
  expect([...found].toSorted()).toEqual(ACTIVE.toSorted());
});
