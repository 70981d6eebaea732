import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { patches, TOP } from "./patches.ts";

it("has ten planted mistakes or more, all of which fit the code", () => {
  expect(patches.length).toBeGreaterThanOrEqual(10);
  const misfits = patches.flatMap(({ name, path }) => {
    try {
      execFileSync("git", ["apply", "--check", path], { cwd: TOP, stdio: "pipe" });
      return [];
    } catch (error) {
      return [`${name}: ${String((error as { stderr?: unknown }).stderr)}`];
    }
  });
  expect(misfits).toEqual([]);
});

it("names for each mistake one of the first 200 seeds, which finds it", () => {
  const others = patches.filter(({ seed }) => !(Number(seed) >= 1 && Number(seed) <= 200));
  expect(others).toEqual([]);
});
