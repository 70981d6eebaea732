import { expect, it } from "vitest";
import { runSimulation } from "./child.ts";

it.each([
  ["--seeds", "2OO"],
  ["--seeds", "0"],
  ["--seeds", ""],
  ["--from", "-1"],
  ["--seed", "1.5"],
])("the simulation refuses %s %j", async (option, value) => {
  const { output, errors, code } = await runSimulation([`${option}=${value}`]);
  expect(errors).toBe(
    `${option} must be a positive integer of at most 9 digits, not "${value}".\n`,
  );
  expect([output, code]).toEqual(["", 2]);
});

it("names the mistakes that it knows where it is given another", async () => {
  const { output, errors, code } = await runSimulation(["--mistake", "slot drift"]);
  expect(errors).toMatch(/^--mistake must be one of these, not "slot drift":\n.*\nslots drift\n/s);
  expect([output, code]).toEqual(["", 2]);
});
