import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import { type Benchmark, byCallers, interleaved, inTurn, middleMs } from "../measure.ts";
import { withServer } from "../server-process.ts";
import type { Ledger } from "./ledger.ts";
import { documentOf } from "./puts.ts";

type Served = { url: string; bareUrl: string; ledger: Ledger };

const SERVER = fileURLToPath(new URL("server.ts", import.meta.url));
const READS = 400;
const CALLERS = 32;
const ROUNDS = 10;
/** Longer than the server needs for a round. */
const ROUND_MS = 40;

const read = async (pool: Pool, path: string, headers: Record<string, string>): Promise<void> => {
  const answer = await pool.request({ path, method: "GET", headers });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(text);
};

const pathOf = ({ tenantId, disputes }: Ledger, number: number): string =>
  `/dispute/v1/tenants/${tenantId}/disputes/dispute-${number % disputes}`;

/** The middle one of many reads, one after the other on one connection, in milliseconds. */
const middleRead = (pool: Pool, ledger: Ledger, headers: Record<string, string>): Promise<number> =>
  middleMs(READS, (number) => read(pool, pathOf(ledger, number), headers));

const PUTS = 320;

/** CPU time of the server so far, after it has put so many documents by itself, in milliseconds. */
const cpuAfter = async (bare: Pool, puts: number): Promise<number> => {
  const { body } = await bare.request({ path: `/cpu/${puts}`, method: "GET" });
  return Number(await body.text());
};

/**
 * CPU time of the server for one of many reads at once, in milliseconds. The callers sleep until a round is answered:
 * where the machine has other load, a caller that each answer wakes interrupts the server, which then takes half as long
 * again; answers that wait for a commit leave together and are not affected.
 */
const crowd = async (
  pool: Pool,
  bare: Pool,
  ledger: Ledger,
  headers: Record<string, string>,
): Promise<number> => {
  const before = await cpuAfter(bare, 0);
  await inTurn(ROUNDS, async (round) => {
    const reads = byCallers(CALLERS, 1, (caller) =>
      read(pool, pathOf(ledger, round * CALLERS + caller), headers),
    );
    // The requests leave now.
    await setImmediate();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ROUND_MS);
    await reads;
  });
  return ((await cpuAfter(bare, 0)) - before) / (CALLERS * ROUNDS);
};

let putOverHttp = 0;

const putOne = async (pool: Pool, { ingestKey }: Ledger): Promise<void> => {
  putOverHttp += 1;
  const { statusCode, body } = await pool.request({
    path: `/api/v1/ingest/documents/http-${putOverHttp}`,
    method: "PUT",
    headers: { "X-API-Key": ingestKey, "Content-Type": "application/json" },
    body: JSON.stringify(documentOf(putOverHttp)),
  });
  const text = await body.text();
  if (statusCode !== 201) throw new Error(text);
};

/** CPU time of the server for one put, in milliseconds. */
const cpuOf = async (bare: Pool, act: () => Promise<unknown>, puts = 0): Promise<number> => {
  const before = await cpuAfter(bare, 0);
  await act();
  return ((await cpuAfter(bare, puts)) - before) / PUTS;
};

const putBenchmark = (connections: number): Benchmark => ({
  name: `put-${connections}`,
  about: `a document put over HTTP, ${connections} connections / the service's function alone`,
  unit: "ms CPU",
  aim: 4,
  run: (options) =>
    withServer([SERVER], async ({ url, bareUrl, ledger }: Served) => {
      const pool = new Pool(url, { connections });
      const bare = new Pool(bareUrl, { connections: 1 });
      const samples = await interleaved(
        {
          ours: () =>
            cpuOf(bare, () =>
              byCallers(connections, PUTS / connections, () => putOne(pool, ledger)),
            ),
          base: () => cpuOf(bare, async () => {}, PUTS),
        },
        { ...options, warmUp: 4 },
      );
      await Promise.all([pool.close(), bare.close()]);
      return samples;
    }),
});

export const httpBenchmarks: readonly Benchmark[] = [
  ...[1, 8, 64].map(putBenchmark),
  {
    name: "read",
    about: "a dispute over HTTP / a bare handler with the same SQLite read",
    unit: "ms",
    aim: 2.5,
    why: "a request also passes routing, authentication, limits and the schema of its input, and its answer has the headers of the interface",
    run: (options) =>
      withServer([SERVER], async ({ url, bareUrl, ledger }: Served) => {
        const pool = new Pool(url, { connections: 1 });
        const bare = new Pool(bareUrl, { connections: 1 });
        const headers = { "X-Platform-Api-Key": ledger.apiKey };
        const samples = await interleaved(
          {
            ours: () => middleRead(pool, ledger, headers),
            base: () => middleRead(bare, ledger, {}),
          },
          { ...options, warmUp: 10 },
        );
        await Promise.all([pool.close(), bare.close()]);
        return samples;
      }),
  },
  {
    name: "audit",
    about: `${CALLERS} callers reading with audit entries / without`,
    unit: "ms CPU",
    aim: 1.15,
    why: "a read without an entry writes nothing; that answers with entries wait for one commit and leave together saves up to a fifth of a read's CPU time, more on a busy machine than on an idle one",
    run: (options) =>
      withServer([SERVER], async ({ url, bareUrl, ledger }: Served) => {
        const pool = new Pool(url, { connections: CALLERS });
        const bare = new Pool(bareUrl, { connections: 1 });
        const headers = { "X-Platform-Api-Key": ledger.apiKey };
        const samples = await interleaved(
          {
            ours: () =>
              crowd(pool, bare, ledger, { ...headers, "X-Platform-Mcp-Tool": "disputes_get" }),
            base: () => crowd(pool, bare, ledger, headers),
          },
          { ...options, warmUp: 4 },
        );
        await Promise.all([pool.close(), bare.close()]);
        return samples;
      }),
  },
];
