import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import { type Benchmark, interleaved } from "../measure.ts";
import type { Ledger } from "./ledger.ts";

const SERVER = fileURLToPath(new URL("audit-server.ts", import.meta.url));
const WITHOUT = new URL("without-audit.ts", import.meta.url).href;
const CALLERS = 8;
const WRITES_EACH = 40;

const isOpen = (number: number): boolean => number % 10 !== 0 && number % 3 !== 0;

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
          // oxlint-disable-next-line no-await-in-loop -- each caller waits for its answer
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

const writesBenchmark = (dialect: "sqlite" | "postgres", name: string): Benchmark => ({
  name,
  about: `${CALLERS} callers changing disputes (${dialect}) with audit entries / without`,
  unit: "ms CPU",
  aim: 1.15,
  async run(options) {
    const ours = await startServer(dialect, []);
    const base = await startServer(dialect, ["--import", WITHOUT]);
    const sides = { ours: ours.measure, base: base.measure };
    const samples = await interleaved(sides, { ...options, warmUp: 4 });
    await Promise.all([ours.stop(), base.stop()]);
    return samples;
  },
});

export const auditBenchmarks: readonly Benchmark[] = [
  writesBenchmark("sqlite", "audit-writes"),
  writesBenchmark("postgres", "audit-writes-postgres"),
];
