import { beforeAll, describe, expect, it } from "vitest";
import { runSimulation } from "./child.ts";
import { MISTAKES } from "./mistakes.ts";

const MINUTE = 60_000;

type Line = { name: string; violation: string | null; hash: string; again: string };

describe("a mistake in the surroundings of the nodes", () => {
  const lines = new Map<string, Line>();

  // One process for all: most of the time of a short run is its start.
  beforeAll(async () => {
    const { output, errors, code } = await runSimulation(["--mistakes"]);
    if (code !== 0) throw new Error(output + errors);
    for (const text of output.trim().split("\n")) {
      const line = JSON.parse(text) as Line;
      lines.set(line.name, line);
    }
  }, 30 * MINUTE);

  it.each(Object.keys(MISTAKES))(
    "%s: is found within 200 seeds, and its seed replays the same events",
    (mistake) => {
      const line = lines.get(mistake);
      expect(line?.violation).toMatch(/\S/);
      expect(line?.hash).toMatch(/^[0-9a-f]{64}$/);
      expect(line?.again).toBe(line?.hash);
    },
  );
});
