import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { MINUTE, SECOND } from "../../src/kit/clock.ts";
import type { SoakCluster } from "./soak-cluster.ts";
import { nodesOf, type Soak } from "./soak-state.ts";

/** Time of work in a round before its fault, and after it. */
export const WORK_MS = 1200;
/** Longer than sessions and leases last. */
export const CLOCK_JUMP_MS = 61 * MINUTE;

type Fault = (soak: Soak) => Promise<void>;

/** Returns a function that waits until something has happened once more. */
const nextOf = ({ counts }: Soak, what: string): (() => Promise<void>) => {
  const before = counts[what] ?? 0;
  return async () => {
    await expect.poll(() => counts[what] ?? 0, { timeout: MINUTE }).toBeGreaterThan(before);
  };
};

export const FAULTS: Record<string, Fault> = {
  "kill -9 of a platform node": ({ cluster, dice }) => cluster.kill(dice.whole(0, 1)),
  "kill -9 of the MCP node": ({ cluster }) => cluster.kill(2),
  "restart of PostgreSQL": ({ cluster }) => cluster.restartDatabase(),
  "immediate stop of PostgreSQL": ({ cluster }) => cluster.crashDatabase(),
  "restart of PgBouncer": ({ cluster }) => cluster.restartPooler(),
  "cut connections": async (soak) => {
    const before = soak.counts["uncertain"];
    // The nodes finish running requests, whose answers do not arrive.
    while (soak.counts["uncertain"] === before) {
      await Promise.all(nodesOf(soak).map((node) => node.cut()));
      await pause(50);
    }
  },
  "a full disk of PostgreSQL": async (soak) => {
    const { disk } = soak.cluster;
    const more = nextOf(soak, "unavailable");
    disk?.fill();
    try {
      await more();
    } finally {
      disk?.free();
    }
  },
  "a clock that jumps by seconds": async ({ cluster, dice }) => {
    const node = dice.whole(0, 2);
    await cluster.setClock(node, dice.pick([-20 * SECOND, 20 * SECOND]));
    await pause(WORK_MS);
    await cluster.setClock(node, 0);
  },
  "a clock that jumps by more than an hour": async (soak) => {
    const { cluster, dice } = soak;
    const node = dice.whole(0, 2);
    const more = nextOf(soak, "ended sessions");
    await cluster.setClock(node, CLOCK_JUMP_MS);
    await more();
    await pause(WORK_MS);
    await cluster.setClock(node, -CLOCK_JUMP_MS);
    await pause(WORK_MS);
    await cluster.setClock(node, 0);
  },
  "errors of S3": async ({ cluster: { s3 }, dice }) => {
    s3.fault = () => (dice.chance(0.5) ? { status: 503, code: "SlowDown" } : undefined);
    await pause(WORK_MS);
    s3.fault = () => undefined;
  },
  // A body that stops and a request without an answer are waited for equally long.
  "silence of S3": async ({ cluster: { s3 }, dice }) => {
    s3.fault = (operation) => {
      if (operation === "GetObject") return dice.chance(0.5) ? { stop: 1000 } : undefined;
      return dice.chance(0.1) ? "silence" : undefined;
    };
    await pause(WORK_MS);
    s3.fault = () => undefined;
  },
  "slow reads of S3": async (soak) => {
    const { cluster, dice } = soak;
    const slow = [{ trickle: 20 }, { cut: 1000 }, { cut: 0 }];
    const reads = nextOf(soak, "reads");
    cluster.s3.fault = (operation) => (operation === "GetObject" ? dice.pick(slow) : undefined);
    await reads();
    await pause(WORK_MS);
    const cut = nextOf(soak, "cut reads");
    cluster.s3.fault = (operation) => (operation === "GetObject" ? { cut: 0 } : undefined);
    await cut();
    cluster.s3.fault = () => undefined;
  },
};

/** Counts that grow during some faults only. A call of an ended node is not answered, so its tools do not fail. */
const ONLY_DURING = { "failed tools": /PostgreSQL|PgBouncer/, "ended sessions": /hour/ };

/** Returns the counts that grew for no reason that the fault gives. */
export const findUnreasoned = (fault: string, before: Soak["counts"], { counts }: Soak): string[] =>
  Object.entries(ONLY_DURING)
    .filter(([what, faults]) => counts[what] !== before[what] && !faults.test(fault))
    .map(([what]) => what);

/** Faults that this machine cannot play, with the reason. */
export const missingFaults = ({ disk, hasPooler }: SoakCluster): Map<string, string> => {
  const missing = new Map<string, string>();
  if (disk === undefined) missing.set("a full disk of PostgreSQL", "this process may not mount");
  if (!hasPooler) missing.set("restart of PgBouncer", "the machine has no pgbouncer");
  return missing;
};
