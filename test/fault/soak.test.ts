import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { createDice } from "../support/dice.ts";
import { verifies } from "../support/verifies.ts";
import { type SoakCluster, startSoakCluster } from "./soak-cluster.ts";
import { beginSoak, FAULT_NAMES, finishSoak, playRound } from "./soak.ts";

const SEED = Number(process.env["FAULT_SEED"] ?? 20_260_302);
/** `npm run soak -- --minutes 30` sets it; without it, each fault comes once. */
const MINUTES = Number(process.env["SOAK_MINUTES"] ?? 0);

describe("two platform nodes and an MCP node under load", () => {
  let cluster: SoakCluster;
  beforeAll(async () => {
    cluster = await startSoakCluster(MINUTES);
  }, 2 * MINUTE);
  afterAll(() => cluster.close());

  verifies("C-04", "C-05", "C-06");
  it(
    `keep every acknowledged change through a series of faults (FAULT_SEED=${SEED})`,
    { timeout: (MINUTES + 15) * MINUTE },
    async () => {
      const log = (line: string): void => void process.stderr.write(`${line}\n`);
      const soak = await beginSoak(cluster, SEED, MINUTES > 0 ? log : () => {});
      const began = performance.now();
      const order = createDice(SEED);
      const isOver = (round: number): boolean =>
        round >= FAULT_NAMES.length && performance.now() - began >= MINUTES * MINUTE;
      for (let round = 0; !isOver(round); round += 1) {
        const name = FAULT_NAMES[round] ?? order.pick(FAULT_NAMES);
        await playRound(soak, name);
      }
      await finishSoak(soak);
      expect(soak.counts["acknowledged"]).toBeGreaterThan(100);
      expect(soak.uploads.length).toBeGreaterThan(0);
      expect(soak.counts["tools"]).toBeGreaterThan(0);
      // Some changes were made whose answers never arrived.
      expect(soak.counts["settled"]).toBeGreaterThan(0);
      expect(soak.counts["completed runs"]).toBeGreaterThan(0);
    },
  );
});
