import { describe, expect, it } from "vitest";
import { runSimulation } from "./child.ts";
import { verifies } from "../support/verifies.ts";

const MINUTE = 60_000;

describe("the simulation", () => {
  verifies("C-02", "C-04", "C-05", "C-09", "C-12", "C-14");
  it(
    "finds no violation in 100 seeds",
    async () => {
      const { output, errors, code } = await runSimulation(["--seeds", "100"]);
      expect(code, output + errors).toBe(0);
    },
    30 * MINUTE,
  );

  verifies("C-02");
  it(
    "does the same for a seed each time, alone and after others",
    async () => {
      const several = await runSimulation(["--from", "7", "--seeds", "3", "--hash"]);
      const alone = await runSimulation(["--seed", "9", "--hash"]);
      const [, , hash = ""] = several.output.split("\n");
      expect(hash).toMatch(/^9 [0-9a-f]{64}$/);
      expect(alone.output.split("\n")[0]).toBe(hash);
    },
    10 * MINUTE,
  );
});
