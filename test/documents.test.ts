import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./support/sources.ts";

const MAX_README_BYTES = 12 * 1024;

const inRoot = readdirSync(ROOT).filter((name) => name.endsWith(".md"));
const manuals = readdirSync(join(ROOT, "docs"))
  .filter((name) => name !== "pictures")
  .map((name) => `docs/${name}`);
const documents = [...inRoot, ...manuals.filter((name) => name.endsWith(".md"))];

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const withoutCode = (text: string): string => text.replaceAll(/^```[^]*?^```/gm, "");

/** The anchors of a document's headings, as code hosts generate them. */
const anchorsOf = (path: string): string[] =>
  [...withoutCode(read(path)).matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} -]/gu, "")
      .replaceAll(" ", "-"),
  );

/** The local links of a document whose file or heading does not exist. */
const brokenLinks = (path: string): string[] =>
  [...withoutCode(read(path)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [file = "", anchor] = target.split("#");
      const linked = file === "" ? path : join(dirname(path), file);
      if (!existsSync(join(ROOT, linked))) return true;
      return anchor !== undefined && !anchorsOf(linked).includes(anchor);
    });

describe("documents", () => {
  it.each(documents)("%s has no broken local link", (path) => {
    expect(brokenLinks(path)).toEqual([]);
  });

  it("the README is a front page that links every manual", () => {
    const text = read("README.md");
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_README_BYTES);
    expect(manuals.filter((path) => !text.includes(`(${path})`))).toEqual([]);
  });
});
