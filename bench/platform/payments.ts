import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import {
  PaymentQueryBody,
  parseSelection,
  hashSelection,
} from "../../src/contract/payments/query.ts";
import { createSeal } from "../../src/kit/seal.ts";
import { atMost, type Benchmark, closeAtEnd, interleaved, middleMs, wallMs } from "../measure.ts";
import { withServer } from "../server-process.ts";
import { type Bench, type Ledger, MASTER_KEY, openLedgers } from "./ledger.ts";
import { fillPayments } from "./payment-rows.ts";

/** Of a page; the interface gives no longer one. */
const PAGE_ROWS = Number(process.env["BENCH_PAGE_ROWS"] ?? 100_000);
/** Of the larger one of two tenants; 5,000,000 is what it is meant for. */
const SCALE_ROWS = Number(process.env["BENCH_PAYMENT_ROWS"] ?? 500_000);
const TIMES_SMALLER = 10;
const MOST_RUNS = 7;
const MOST_MIB = 64;
const CALLS = 20;

const QUERY = "/api/v1/remittance-export/payments/query";
const SERVER = fileURLToPath(new URL("payments-server.ts", import.meta.url));

type Served = { url: string; bareUrl: string; key: string };

/** Reads a page as it comes, and keeps none of it. */
const readPage = async (pool: Pool, key: string): Promise<void> => {
  const { statusCode, body } = await pool.request({
    path: QUERY,
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    body: JSON.stringify({ source: "cashapp", limit: PAGE_ROWS }),
  });
  let bytes = 0;
  for await (const chunk of body) bytes += (chunk as Buffer).length;
  if (statusCode !== 200 || bytes < PAGE_ROWS) throw new Error(`${statusCode}, ${bytes} bytes`);
};

const bareText = async (bare: Pool, path: string): Promise<string> =>
  (await bare.request({ path, method: "GET" })).body.text();

const page: Benchmark = {
  name: "payments-page",
  about: `a page of ${PAGE_ROWS} rows over HTTP / the same SQL into a buffer`,
  unit: "ms",
  aim: 1.5,
  why: "the rows pass through HTTP to another process, and the limit keeps them in the server",
  run: (options) =>
    withServer([SERVER, String(PAGE_ROWS)], async ({ url, bareUrl, key }: Served) => {
      const pool = new Pool(url, { connections: 1 });
      const bare = new Pool(bareUrl, { connections: 1 });
      const samples = await interleaved(
        {
          ours: () => wallMs(() => readPage(pool, key)),
          base: async () => Number(await bareText(bare, "/buffer")),
        },
        atMost(MOST_RUNS, options, 2),
      );
      await Promise.all([pool.close(), bare.close()]);
      return samples;
    }),
};

const memory: Benchmark = {
  name: "payments-memory",
  about: `what a server uses above its idle memory for that page / ${MOST_MIB} MiB`,
  unit: "MiB",
  aim: 1,
  run: (options) =>
    withServer([SERVER, String(PAGE_ROWS)], async ({ url, bareUrl, key }: Served) => {
      const pool = new Pool(url, { connections: 1 });
      const bare = new Pool(bareUrl, { connections: 1 });
      const used = async () =>
        JSON.parse(await bareText(bare, "/memory")) as { most: number; now: number };
      const above = async (): Promise<number> => {
        const { now } = await used();
        await readPage(pool, key);
        return Math.max(0, (await used()).most - now);
      };
      const samples = await interleaved(
        { ours: above, base: () => MOST_MIB },
        atMost(MOST_RUNS, options, 2),
      );
      await Promise.all([pool.close(), bare.close()]);
      return samples;
    }),
};

type TwoTenants = Bench<readonly [small: Ledger, large: Ledger]>;

let shared: Promise<TwoTenants> | undefined;

/** Two tenants with payments, one with many times as many as the other. */
const tenants = (): Promise<TwoTenants> => {
  if (shared !== undefined) return shared;
  const opened = openLedgers([1, 2]).then(async (bench) => {
    for (const [place, { tenantId }] of bench.ledgers.entries()) {
      await fillPayments(bench.store, tenantId, rowsAt(place));
    }
    return bench;
  });
  closeAtEnd(() => opened.then((bench) => bench.close()));
  shared = opened;
  return opened;
};

const SORTS: Record<string, object> = {
  walk: {},
  document: {
    documentNumber: { in: Array.from({ length: 20 }, (_, place) => `document-${place * 97}`) },
  },
};

/** Returns the number of rows of one of the two tenants. */
const rowsAt = (place: number): number =>
  place === 0 ? Math.floor(SCALE_ROWS / TIMES_SMALLER) : SCALE_ROWS;

/** The middle one of many pages, from all over the tenant's first half. */
const middlePage = async (
  { platform }: Bench,
  { tenantId, ingestKey }: Ledger,
  { filters, upTo }: { filters: object; upTo: number },
): Promise<number> => {
  const body = { source: "cashapp", filters };
  const { value } = parseSelection(PaymentQueryBody, body);
  if (value === undefined) throw new Error("no query");
  const query = hashSelection(value);
  const seal = createSeal(MASTER_KEY, "payment-cursor");
  return middleMs(CALLS, async (number) => {
    const after = Math.floor(((number * 7919) % upTo) / 2);
    const place = { tenant: tenantId, query, after, upTo, madeAt: Date.now() };
    const request = new Request(`http://bench${QUERY}`, {
      method: "POST",
      headers: { "X-API-Key": ingestKey, "Content-Type": "application/json" },
      body: JSON.stringify({ ...body, cursor: seal.seal(place) }),
    });
    return (await platform.fetch(request)).text();
  });
};

const scale = Object.entries(SORTS).map(([name, filters]): Benchmark => ({
  name: `payments-scale-${name}`,
  about: `a page of 500 rows, ${name}, in a tenant with ${SCALE_ROWS} rows / a tenth of them`,
  unit: "ms",
  aim: 1.2,
  async run(options) {
    const bench = await tenants();
    const [small, large] = bench.ledgers;
    return interleaved(
      {
        ours: () => middlePage(bench, large, { filters, upTo: rowsAt(1) }),
        base: () => middlePage(bench, small, { filters, upTo: rowsAt(0) }),
      },
      options,
    );
  },
}));

export const paymentBenchmarks: readonly Benchmark[] = [page, memory, ...scale];
