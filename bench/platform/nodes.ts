import { join } from "node:path";
import pg from "pg";
import { Pool } from "undici";
import { deriveMasterKey } from "../../src/kit/master-key.ts";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { startCli, whenReady } from "../../test/support/cli.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { inFolder } from "../folder.ts";
import { type Benchmark, interleaved } from "../measure.ts";
import { readCpuMsOf } from "../process.ts";
import { type Ledger, openLedgers } from "./ledger.ts";
import { SIGNING } from "./signing.ts";

const SECRET = "the master key of both nodes, and of the ledger";
const DISPUTES = 1000;
const REQUESTS = 600;
const AT_ONCE = 4;
const WARM_UP = 4;

type Served = { node: Node; ledger: Ledger };

type Node = { pool: Pool; cpuMs(): number; end(): Promise<unknown> };

const startNode = async (env: Record<string, string>): Promise<Node> => {
  const running = startCli(["platform", "--port", "0"], env);
  const { baseUrl } = await whenReady(running);
  const pool = new Pool(new URL(baseUrl).origin, { connections: AT_ONCE });
  const end = async (): Promise<void> => {
    await pool.close();
    await running.end("SIGTERM");
  };
  return { pool, cpuMs: () => readCpuMsOf(running.pid), end };
};

let changed = 0;

const send = async ({ pool }: Node, { tenantId, apiKey }: Ledger, number: number) => {
  const path = `/dispute/v1/tenants/${tenantId}/disputes`;
  // Of thirty neighbours, the second is open.
  const open = `${path}/dispute-${(number % Math.floor(DISPUTES / 30)) * 30 + 1}`;
  changed += 1;
  const asks = [
    { method: "GET", path: `${path}/dispute-${(number * 7919) % DISPUTES}` },
    { method: "GET", path: `${path}?PageSize=20` },
    { method: "GET", path: `${path}?AccountNumber=account-${number % 100}` },
    { method: "PUT", path: open, body: JSON.stringify({ poNumber: `PO ${changed}` }) },
  ] as const;
  const ask = asks[number % asks.length] ?? asks[0];
  const headers = { "X-Platform-Api-Key": apiKey, "Content-Type": "application/json" };
  const { statusCode, body } = await pool.request({ ...ask, headers });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(text);
};

const load = async ({ node, ledger }: Served): Promise<void> => {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < REQUESTS) {
      next += 1;
      await send(node, ledger, next);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
};

/** Gives each of two nodes the same load at once; returns their processor time per request. */
const measure = async (pair: readonly Served[]): Promise<number> => {
  const total = () => pair.reduce((sum, { node }) => sum + node.cpuMs(), 0);
  const before = total();
  await Promise.all(pair.map(load));
  return (total() - before) / (REQUESTS * pair.length);
};

/** Creates a database on the same server; returns its URL. */
const createDatabase = async (url: string, name: string): Promise<string> => {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return new URL(`/${name}`, url).href;
};

const fillDatabase = async (url: string): Promise<Ledger> => {
  const signing = { ...SIGNING, masterKey: () => deriveMasterKey(SECRET) };
  const bench = await openLedgers([DISPUTES], () => openPostgres(url, signing));
  await bench.close();
  return bench.ledgers[0];
};

/** Starts two nodes on one database, and a third one on a database of its own on the same server. */
const withNodes = <T>(act: (served: Served[]) => Promise<T>): Promise<T> =>
  inFolder(async (folder) => {
    const server = await startPostgres();
    const served: Served[] = [];
    try {
      const shared = server.url;
      const own = await createDatabase(shared, "own");
      const ledgers = new Map([
        [shared, await fillDatabase(shared)],
        [own, await fillDatabase(own)],
      ]);
      for (const [number, url] of [shared, shared, own].entries()) {
        const env = {
          DATABASE_URL: url,
          RECEIVABLES_SECRET_KEY: SECRET,
          RECEIVABLES_FILES_URL: join(folder, url === own ? "own-files" : "files"),
          RECEIVABLES_GATEWAY_RATE_MINUTE: "0",
          RECEIVABLES_LOG: "warn",
          RECEIVABLES_DATA: join(folder, String(number)),
        };
        // One after the other, since the first one creates the folder of files.
        const node = await startNode(env);
        served.push({ node, ledger: ledgers.get(url) as Ledger });
      }
      return await act(served);
    } finally {
      await Promise.all(served.map(({ node }) => node.end()));
      await server.stop();
    }
  });

/**
 * Measures whether a node that shares its database makes requests dearer. Both sides are two nodes under the same load:
 * one node alone would leave half of the machine idle, or, with the requests of both, have twice as many at once, of
 * which each is cheaper (by a tenth at 8 instead of 4).
 */
export const nodeBenchmarks: readonly Benchmark[] = [
  {
    name: "nodes",
    about:
      "processor time of a request: two platforms with one PostgreSQL database / with one each",
    unit: "ms",
    aim: 1.1,
    why: "the two databases of the limit share one server, so what differs is small, and other load on the machine changes it",
    run: (options) =>
      withNodes(([first, second, alone]) => {
        if (first === undefined || second === undefined || alone === undefined) {
          throw new Error("a node is missing");
        }
        return interleaved(
          { ours: () => measure([first, second]), base: () => measure([first, alone]) },
          // The nodes need about 3,000 requests until their code is compiled.
          { ...options, warmUp: WARM_UP },
        );
      }),
  },
];
