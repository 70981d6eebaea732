import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runSimulation } from "./child.ts";
import { patches, TOP } from "./patches.ts";

const MINUTE = 60_000;

/** Copies the program without its repository, so that a patch changes nothing here. */
const copyProgram = (): string => {
  const copy = mkdtempSync(join(tmpdir(), "receivables-mistake-"));
  for (const name of ["src", "package.json", "test/simulation", "test/support"]) {
    cpSync(join(TOP, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(TOP, "node_modules"), join(copy, "node_modules"));
  return copy;
};

describe("a planted mistake", () => {
  it.each(patches)(
    "$name is found within 200 seeds, and its seed replays the same events",
    async ({ path, seed }) => {
      const copy = copyProgram();
      try {
        execFileSync("git", ["apply", path], { cwd: copy, stdio: "pipe" });
        const known = await runSimulation(copy, ["--seed", seed, "--hash"]);
        const { output, errors, code } =
          known.code === 1 ? known : await runSimulation(copy, ["--seeds", "200", "--hash"]);
        const [, found = ""] = /^seed (\d+): .+\nReplay it with: /m.exec(output) ?? [];
        expect(code, output + errors).toBe(1);
        const replay = await runSimulation(copy, ["--seed", found, "--hash"]);
        expect(replay.output).toMatch(new RegExp(`^${found} [0-9a-f]{64}\n`));
        expect(output.endsWith(replay.output), replay.output).toBe(true);
      } finally {
        rmSync(copy, { recursive: true, force: true });
      }
    },
    30 * MINUTE,
  );
});
