import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import { type Benchmark, byCallers, type Options, type Samples } from "../measure.ts";
import { startServer } from "../server-process.ts";
import { isOpenDispute, type Ledger } from "./ledger.ts";

const SERVER = fileURLToPath(new URL("audit-server.ts", import.meta.url));
const WITHOUT = new URL("without-audit.ts", import.meta.url).href;
const CALLERS = 8;
const WRITES_EACH = 10;
/** Turns of each server in a sample. They are short, because other load on the machine changes within seconds. */
const TURNS = 25;
const WARM_UP = 3;

type Said = { url: string; ledger: Ledger };

type Server = Awaited<ReturnType<typeof startPlatform>>;

/** Starts a platform as a process of its own, with audit entries or without. */
const startPlatform = async (dialect: string, flags: readonly string[]) => {
  const server = await startServer([...flags, SERVER, dialect]);
  const { url, ledger } = server.said as Said;
  const open = Array.from({ length: ledger.disputes }, (_, number) => number).filter(isOpenDispute);
  const pool = new Pool(url, { connections: CALLERS });
  let written = 0;
  const write = async (): Promise<void> => {
    written += 1;
    const { statusCode, body } = await pool.request({
      method: "PUT",
      path: `/dispute/v1/tenants/${ledger.tenantId}/disputes/dispute-${open[written % open.length]}`,
      headers: { "X-Platform-Api-Key": ledger.apiKey, "Content-Type": "application/json" },
      body: JSON.stringify({ poNumber: `PO ${written}` }),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(text);
  };
  const readCpuMs = async (): Promise<number> => Number(await server.ask());
  return {
    /** CPU time of the server for one write, in milliseconds. */
    async measure(): Promise<number> {
      const before = await readCpuMs();
      await byCallers(CALLERS, WRITES_EACH, write);
      return ((await readCpuMs()) - before) / (CALLERS * WRITES_EACH);
    },
    async stop(): Promise<void> {
      await pool.close();
      await server.stop();
    },
  };
};

const takeTurns = async (
  servers: Record<keyof Samples, Server>,
  { runs }: Options,
): Promise<Samples> => {
  const samples: Samples = { ours: [], base: [] };
  for (let run = -WARM_UP; run < runs; run += 1) {
    const sums = { ours: 0, base: 0 };
    for (let turn = 0; turn < TURNS; turn += 1) {
      const order = turn % 2 === 0 ? (["base", "ours"] as const) : (["ours", "base"] as const);
      for (const name of order) {
        // Side by side they would measure each other.
        sums[name] += await servers[name].measure();
      }
    }
    if (run < 0) continue;
    samples.ours.push(sums.ours / TURNS);
    samples.base.push(sums.base / TURNS);
  }
  return samples;
};

const writesBenchmark = (dialect: "sqlite" | "postgres", name: string): Benchmark => ({
  name,
  about: `${CALLERS} callers changing disputes (${dialect}) with audit entries / without`,
  unit: "ms CPU",
  aim: 1.15,
  why: "an entry adds its row with three indexes, the head of the chain and a code for each: as bare prepared SQL with the two codes they take 2.3 times the CPU time of the bare change of a dispute in the same run, 31 µs beside 13",
  async run(options) {
    const ours = await startPlatform(dialect, []);
    const base = await startPlatform(dialect, ["--import", WITHOUT]);
    const samples = await takeTurns({ ours, base }, options);
    await Promise.all([ours.stop(), base.stop()]);
    return samples;
  },
});

export const auditBenchmarks: readonly Benchmark[] = [
  writesBenchmark("sqlite", "audit-writes"),
  writesBenchmark("postgres", "audit-writes-postgres"),
];
