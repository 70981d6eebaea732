import { describe, expect, it } from "vitest";
import { NOT_TESTED, requirements } from "./requirements.ts";
import { sources } from "./support/sources.ts";
import { verifies } from "./support/verifies.ts";

const CALL = /^[ ]*verifies\(([^()]*)\);$/gm;

/** The ids that a test file cites by `verifies`. */
const citedIn = (text: string): string[] =>
  [...text.matchAll(CALL)].flatMap(([, ids = ""]) =>
    [...ids.matchAll(/"([^"]+)"/g)].map(([, id = ""]) => id),
  );

const files = sources("test").filter(({ path }) => path.endsWith(".test.ts"));
const cited = new Map(files.map(({ path, text }) => [path, new Set(citedIn(text))]));
const prefixes = new Set(requirements.map(({ id }) => id.split("-")[0] ?? ""));
const known = new Set(requirements.map(({ id }) => id));

describe("the acceptance list", () => {
  it("names each requirement once", () => {
    expect(requirements.length).toBeGreaterThan(410);
    expect(known.size).toBe(requirements.length);
  });

  it("reads the ids of verifies calls, and no others", () => {
    const ids = [1, 2, 3].map((number) => `KEY-0${number}`);
    const name = verifies.name;
    const call = (...cited: string[]): string =>
      `${name}(${cited.map((id) => `"${id}"`).join(", ")});`;
    const text = `  ${call("KEY-01", "KEY-02")}\nit("KEY-09", f); // ${call("KEY-08")}\n${call("KEY-03")}\n`;
    expect(citedIn(text)).toEqual(ids);
  });

  it("has a test for everything", () => {
    const all = new Set([...cited.values()].flatMap((ids) => [...ids]));
    const missing = requirements.filter(({ id }) => !all.has(id));
    expect(missing.map(({ id, what }) => `${id} ${what}`)).toEqual([]);
  });

  it("gives a reason for each part that has no test", () => {
    for (const [id, reason] of Object.entries(NOT_TESTED)) {
      expect([...known], id).toContain(id);
      expect(reason.split(" ").length, id).toBeGreaterThan(6);
    }
  });

  it("has titles without ids", () => {
    const id = new RegExp(
      `\\b(?:it|describe)[^\\n]*["'\`](?:${[...prefixes].join("|")})-\\d{2,3} `,
    );
    expect(files.filter(({ text }) => id.test(text)).map(({ path }) => path)).toEqual([]);
  });
});
