import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import { type Benchmark, interleaved, median, wallMs } from "../measure.ts";
import type { Ledger } from "./ledger.ts";
import { documentOf } from "./puts.ts";

type Served = { url: string; bareUrl: string; ledger: Ledger };

const SERVER = fileURLToPath(new URL("server.ts", import.meta.url));
const READS = 400;
const CALLERS = 32;
const READS_EACH = 40;

/** Runs something against a server process of its own. */
const withServer = async <T>(act: (served: Served) => Promise<T>): Promise<T> => {
  const child = spawn(process.execPath, [SERVER], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  try {
    return await act(JSON.parse(line) as Served);
  } finally {
    child.stdin.end();
    await once(child, "close");
  }
};

const read = async (pool: Pool, path: string, headers: Record<string, string>): Promise<void> => {
  const answer = await pool.request({ path, method: "GET", headers });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(text);
};

const pathOf = ({ tenantId, disputes }: Ledger, number: number): string =>
  `/dispute/v1/tenants/${tenantId}/disputes/dispute-${number % disputes}`;

/** The middle one of many reads, one after the other on one connection, in milliseconds. */
const middleRead = async (
  pool: Pool,
  ledger: Ledger,
  headers: Record<string, string>,
): Promise<number> => {
  const times: number[] = [];
  for (let number = 0; number < READS; number += 1) {
    times.push(await wallMs(() => read(pool, pathOf(ledger, number), headers)));
  }
  return median(times);
};

const crowd = (pool: Pool, ledger: Ledger, headers: Record<string, string>): Promise<number> =>
  wallMs(() =>
    Promise.all(
      Array.from({ length: CALLERS }, async (_, caller) => {
        for (let number = 0; number < READS_EACH; number += 1) {
          await read(pool, pathOf(ledger, caller * READS_EACH + number), headers);
        }
      }),
    ),
  );

const PUTS = 320;

/** CPU time of the server so far, after it has put so many documents by itself, in milliseconds. */
const cpuAfter = async (bare: Pool, puts: number): Promise<number> => {
  const { body } = await bare.request({ path: `/cpu/${puts}`, method: "GET" });
  return Number(await body.text());
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

/** Single PUTs by so many connections at once. */
const putAll = (pool: Pool, ledger: Ledger, connections: number): Promise<unknown> =>
  Promise.all(
    Array.from({ length: connections }, async () => {
      for (let done = 0; done < PUTS / connections; done += 1) {
        await putOne(pool, ledger);
      }
    }),
  );

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
    withServer(async ({ url, bareUrl, ledger }) => {
      const pool = new Pool(url, { connections });
      const bare = new Pool(bareUrl, { connections: 1 });
      const samples = await interleaved(
        {
          ours: () => cpuOf(bare, () => putAll(pool, ledger, connections)),
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
    run: (options) =>
      withServer(async ({ url, bareUrl, ledger }) => {
        const [pool, bare] = [
          new Pool(url, { connections: 1 }),
          new Pool(bareUrl, { connections: 1 }),
        ];
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
    unit: "ms",
    aim: 1.15,
    run: (options) =>
      withServer(async ({ url, ledger }) => {
        const pool = new Pool(url, { connections: CALLERS });
        const headers = { "X-Platform-Api-Key": ledger.apiKey };
        const samples = await interleaved(
          {
            ours: () => crowd(pool, ledger, { ...headers, "X-Platform-Mcp-Tool": "disputes_get" }),
            base: () => crowd(pool, ledger, headers),
          },
          { ...options, warmUp: 4 },
        );
        await pool.close();
        return samples;
      }),
  },
];
