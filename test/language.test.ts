import { describe, expect, it } from "vitest";
import { isRefused, refusedNames, sentences } from "./support/language.ts";
import { sources } from "./support/sources.ts";

const FOLDERS = ["src", "tools", "prompts", "test", "bench", "scripts", "evals"];

/** The largest tolerated share of comments and titles with a refused word. Lower it with each clean-up; the aim is 0.03. */
const TOLERATED = 0.007;

describe("the language of comments and test titles", () => {
  it("is plain technical English", () => {
    const all = sentences(FOLDERS);
    const refused = all.filter(({ text }) => isRefused(text));
    const share = refused.length / all.length;
    const listed = refused.map(({ path, line, text }) => `${path}:${line}: ${text}`);
    expect(share, listed.join("\n")).toBeLessThanOrEqual(TOLERATED);
  });

  it.each([
    "Whoever calls, as far as this server knows them.",
    "What nobody has the secret of is worth nothing.",
    "Keys are fetched anew when one is not known.",
    "Which of the two doors it came by",
  ])("refuses: %s", (text) => {
    expect(isRefused(text)).toBe(true);
  });

  it.each([
    "Returns the next run at or after `now`.",
    "Token-bucket rate limiter: `limit` calls per minute, bursts allowed.",
    "closes the stream when the token expires, even if the issuer is down",
  ])("accepts: %s", (text) => {
    expect(isRefused(text)).toBe(false);
  });
});

describe("the names of variables, parameters and functions", () => {
  it("are plain technical English", () => {
    expect(["src", "tools", "prompts"].flatMap(sources).flatMap(refusedNames)).toEqual([]);
  });

  it.each([
    "const told = 1;",
    "const { a: told, ...rest } = b;",
    "const { told } = b;",
    "function told() {}",
    "const f = ([told]: string[] = []) => 1;",
    "class A { constructor(private told: string) {} }",
    "for (const told of []) {}",
    "try {} catch (told) {}",
  ])("are found in: %s", (text) => {
    expect(refusedNames({ path: "made-up.ts", text })).toEqual(["made-up.ts:1: told"]);
  });
});
