import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import type { Benchmark, Options, Samples } from "../measure.ts";
import type { Ledger } from "./ledger.ts";

const SERVER = fileURLToPath(new URL("audit-server.ts", import.meta.url));
const WITHOUT = new URL("without-audit.ts", import.meta.url).href;
const CALLERS = 8;
const WRITES_EACH = 10;
/** Turns of each server in a sample. They are short, because other load on the machine changes within seconds. */
const TURNS = 25;
const WARM_UP = 3;

const isOpen = (number: number): boolean => number % 10 !== 0 && number % 3 !== 0;

type Server = Awaited<ReturnType<typeof startServer>>;

/** Starts a platform as a process of its own, with audit entries or without. */
const startServer = async (dialect: string, flags: readonly string[]) => {
  const child = spawn(process.execPath, [...flags, SERVER, dialect], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const readLine = async (): Promise<string> => String((await lines.next()).value);
  const { url, ledger } = JSON.parse(await readLine()) as { url: string; ledger: Ledger };
  const open = Array.from({ length: ledger.disputes }, (_, number) => number).filter(isOpen);
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
  const cpuMs = async (): Promise<number> => {
    child.stdin.write("\n");
    return Number(await readLine());
  };
  return {
    /** CPU time of the server for one write, in milliseconds. */
    async measure(): Promise<number> {
      const before = await cpuMs();
      await Promise.all(
        Array.from({ length: CALLERS }, async () => {
          for (let done = 0; done < WRITES_EACH; done += 1) await write();
        }),
      );
      return ((await cpuMs()) - before) / (CALLERS * WRITES_EACH);
    },
    async stop(): Promise<void> {
      await pool.close();
      child.stdin.end();
      await once(child, "close");
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
  async run(options) {
    const ours = await startServer(dialect, []);
    const base = await startServer(dialect, ["--import", WITHOUT]);
    const samples = await takeTurns({ ours, base }, options);
    await Promise.all([ours.stop(), base.stop()]);
    return samples;
  },
});

export const auditBenchmarks: readonly Benchmark[] = [
  writesBenchmark("sqlite", "audit-writes"),
  writesBenchmark("postgres", "audit-writes-postgres"),
];
