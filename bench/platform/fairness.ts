import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import { atMost, type Benchmark, interleaved, wallMs } from "../measure.ts";
import { withServer } from "../server-process.ts";
import type { Ledger } from "./ledger.ts";

type Served = { url: string; ledgers: [busy: Ledger, quiet: Ledger] };

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const SERVER = pathOf("fairness-server.ts");
const ATTACK = pathOf("fairness-attack.ts");
const IDLE_READS = 500;
/** A person's pace, so that the measuring itself loads the server little. */
const PAUSE_MS = 2;
const MOST_RUNS = 7;

const ninetyNinth = (times: readonly number[]): number => {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN;
};

const tenantPath = ({ tenantId }: Ledger): string => `/dispute/v1/tenants/${tenantId}`;

/** Point reads by the quiet tenant, one after the other, for as long as they are wanted; the p99 of their times. */
const readWhile = async (
  pool: Pool,
  quiet: Ledger,
  isWanted: (reads: number) => boolean,
): Promise<number> => {
  const times: number[] = [];
  const headers = { "X-Platform-Api-Key": quiet.apiKey };
  while (isWanted(times.length)) {
    const path = `${tenantPath(quiet)}/disputes/dispute-${times.length % quiet.disputes}`;
    const read = async (): Promise<void> => {
      const { statusCode, body } = await pool.request({ path, method: "GET", headers });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(text);
    };
    times.push(await wallMs(read));
    await setTimeout(PAUSE_MS);
  }
  return ninetyNinth(times);
};

const readUnderAttack = async (pool: Pool, { url, ledgers }: Served): Promise<number> => {
  const [busy, quiet] = ledgers;
  const child: ChildProcess = spawn(
    process.execPath,
    [ATTACK, url + tenantPath(busy), busy.apiKey, String(busy.disputes)],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  let code: number | null | undefined;
  child.once("exit", (ended) => {
    code = ended ?? 1;
  });
  const worst = await readWhile(pool, quiet, () => code === undefined);
  if (code !== 0) throw new Error("an answer of the attack was not whole");
  return worst;
};

/** Measures how much one tenant's long reads slow another tenant down. */
export const fairnessBenchmarks: readonly Benchmark[] = ["sqlite", "postgres"].map((store) => ({
  name: `fairness-${store}`,
  about:
    "p99 of a point read while another tenant reads 8 lists of 30,000 and 20 deep pages / idle",
  unit: "ms",
  aim: 10,
  run: (options) =>
    withServer([SERVER, store], async (served: Served) => {
      const pool = new Pool(served.url, { connections: 1 });
      const samples = await interleaved(
        {
          ours: () => readUnderAttack(pool, served),
          base: () => readWhile(pool, served.ledgers[1], (reads) => reads < IDLE_READS),
        },
        atMost(MOST_RUNS, options),
      );
      await pool.close();
      return samples;
    }),
}));
