import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const ROOT = new URL("../", import.meta.url);
/** Sections that promise nothing. */
const WITHOUT_TESTS = ["Report a vulnerability", "What is not protected"];

type Promised = { section: string; text: string };
type Reference = { path: string; title: string | undefined };

/** The promises of the document: the list items of every section but those without tests. */
const promisesOf = (text: string): Promised[] =>
  text
    .split(/^## /mu)
    .slice(1)
    .flatMap((part) => {
      const [section = "", ...lines] = part.split("\n");
      if (WITHOUT_TESTS.includes(section)) return [];
      return lines
        .filter((line) => line.startsWith("- "))
        .map((line) => ({ section, text: line.slice(2) }));
    });

/** The tests that a promise ends with: paths, each with a title in quotation marks or without. */
const referencesOf = (text: string): Reference[] => {
  const ending = /(?: `test\/[\w./-]+\.test\.ts`(?: "[^"]+")?)+$/u.exec(text)?.[0] ?? "";
  return Array.from(ending.matchAll(/`([^`]+)`(?: "([^"]+)")?/gu), ([, path = "", title]) => ({
    path,
    title,
  }));
};

const escaped = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}]/gu, String.raw`\$&`);

/** Returns the faults in the references of a promise. */
const faultsOf = ({ section, text }: Promised): string[] => {
  const references = referencesOf(text);
  if (references.length === 0) return [`${section}: no test holds "${text}"`];
  return references.flatMap(({ path, title }) => {
    const url = new URL(path, ROOT);
    if (!existsSync(url)) return [`${section}: there is no ${path}`];
    const isThere =
      title === undefined ||
      new RegExp(String.raw`\(\s*"${escaped(title)}"`, "u").test(readFileSync(url, "utf8"));
    return isThere ? [] : [`${section}: ${path} has no test "${title}"`];
  });
};

describe("SECURITY.md", () => {
  it("names an existing test for every promise", () => {
    const promises = promisesOf(readFileSync(new URL("SECURITY.md", ROOT), "utf8"));
    expect(new Set(promises.map(({ section }) => section)).size).toBeGreaterThan(5);
    expect(promises.flatMap(faultsOf)).toEqual([]);
  });

  it("is refused with a promise without a test, of a missing file, or of a missing title", () => {
    const own = "`test/security-document.test.ts`";
    const text = [
      "## Section",
      "- Without a test.",
      "- Of a missing file. `test/absent.test.ts`",
      `- Of a missing title. ${own} "${["no such", "title"].join(" ")}"`,
      `- Held. ${own} "names an existing test for every promise" ${own}`,
      "## What is not protected",
      "- Anything.",
    ].join("\n");
    expect(promisesOf(text).flatMap(faultsOf)).toEqual([
      'Section: no test holds "Without a test."',
      "Section: there is no test/absent.test.ts",
      'Section: test/security-document.test.ts has no test "no such title"',
    ]);
  });
});
