import { expect, it } from "vitest";
import { runSimulation } from "./child.ts";
import { TOP } from "./patches.ts";

it.each([
  ["--seeds", "2OO"],
  ["--seeds", "0"],
  ["--seeds", ""],
  ["--from", "-1"],
  ["--seed", "1.5"],
])("the simulation refuses %s %j", async (option, value) => {
  const { output, errors, code } = await runSimulation(TOP, [`${option}=${value}`]);
  expect(errors).toBe(
    `${option} must be a positive integer of at most 9 digits, not "${value}".\n`,
  );
  expect([output, code]).toEqual(["", 2]);
});
