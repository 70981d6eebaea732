import { describe, expect, it } from "vitest";
import { runSimulation } from "./child.ts";
import { MISTAKES } from "./mistakes.ts";

const MINUTE = 60_000;

describe("a mistake in the surroundings of the nodes", () => {
  it.each(Object.entries(MISTAKES))(
    "%s: is found within 200 seeds, and its seed replays the same events",
    async (mistake, { seed }) => {
      const run = (...options: string[]) =>
        runSimulation(["--mistake", mistake, "--hash", ...options]);
      const known = await run("--seed", String(seed));
      const { output, errors, code } = known.code === 1 ? known : await run("--seeds", "200");
      expect(code, output + errors).toBe(1);
      const [, found = ""] = /^seed (\d+): .+\nReplay it with: /m.exec(output) ?? [];
      const replay = await run("--seed", found);
      expect(replay.output).toMatch(new RegExp(`^${found} [0-9a-f]{64}\n`));
      expect(output.endsWith(replay.output), replay.output).toBe(true);
    },
    30 * MINUTE,
  );
});
