import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { TENANT } from "../support/cluster.ts";
import { verifies } from "../support/verifies.ts";
import { type FailoverCluster, HAS_FAILOVER, startFailoverCluster } from "./failover-cluster.ts";
import {
  beginFailovers,
  closeFailovers,
  endServers,
  failOver,
  type Failover,
  FAILOVERS,
} from "./failover.ts";

const SEED = Number(process.env["FAULT_SEED"] ?? 20_261_127);
/** `npm run failover -- --count 10` sets it. */
const COUNT = Number(process.env["FAILOVER_COUNT"] ?? 2);

describe.skipIf(!HAS_FAILOVER)(
  "two platforms and two MCP servers on PostgreSQL that fails over (needs patroni, etcd and haproxy)",
  () => {
    let cluster: FailoverCluster;
    let state: Failover;
    beforeAll(async () => {
      cluster = await startFailoverCluster();
      state = await beginFailovers(cluster, SEED);
    }, 3 * MINUTE);
    afterAll(async () => {
      if (state !== undefined) await closeFailovers(state);
      await cluster?.close();
    }, MINUTE);
    const log = (line: object): void => {
      if (COUNT > 2) process.stderr.write(`${JSON.stringify(line)}\n`);
    };

    verifies("RC-31");
    it(
      `keep every acknowledged change through ${COUNT} failovers (FAULT_SEED=${SEED})`,
      { timeout: (COUNT + 1) * 2 * MINUTE },
      async () => {
        const kinds = Object.keys(FAILOVERS);
        for (let round = 0; round < COUNT; round += 1) {
          log(await failOver(state, kinds[round % kinds.length] ?? ""));
        }
        const { counts, refusals } = state;
        log({ ...counts, refusals });
        expect(counts["acknowledged"]).toBeGreaterThan(100);
        expect(await cluster.nodes.admin(["audit", "verify", TENANT])).toMatchObject({ ok: true });
      },
    );

    verifies("RC-31", "OP-22");
    it("let sessions and calls go on when one of two MCP servers behind HAProxy ends", async () => {
      expect(await endServers(state)).toEqual({});
    });
  },
);
