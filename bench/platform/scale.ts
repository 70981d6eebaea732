import { sql } from "kysely";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { type Benchmark, median, type Options, type Samples, wallMs } from "../measure.ts";
import { type Bench, type Ledger, openLedgers } from "./ledger.ts";
import { SIGNING } from "./signing.ts";

const SIZES = [10, 1000, 100_000];
const CALLS = 100;
/** Rows of a page, which each of the ledgers has. */
const ROWS = 5;

type Ask = (number: number, ledger: Ledger) => [method: string, path: string, body?: unknown];

// Spread over the ledger, so that no page of the file is always the same one.
const spread = (number: number, { disputes }: Ledger): number => (number * 7919) % disputes;

// Of thirty neighbours, the second is open.
const openOne = (number: number, { disputes }: Ledger): number =>
  ((number * 7919) % Math.max(1, Math.floor(disputes / 30))) * 30 + 1;

let changed = 0;
let created = 0;

const ASKS: Record<string, Ask> = {
  get: (number, ledger) => ["GET", `/disputes/dispute-${spread(number, ledger)}`],
  list: () => ["GET", `/disputes?PageSize=${ROWS}`],
  "list-status": () => ["GET", `/disputes?Status=0&PageSize=${ROWS}`],
  "list-amount": () => ["GET", `/disputes?Sort=-Amount&PageSize=${ROWS}`],
  "list-account": (number, ledger) => [
    "GET",
    `/disputes?AccountNumber=account-${Math.floor(spread(number, ledger) / 10)}`,
  ],
  "list-document": (number, ledger) => [
    "GET",
    `/disputes?DocumentNumber=${spread(number, ledger)}`,
  ],
  "list-assignee": (number, ledger) => [
    "GET",
    `/disputes?AssigneeId=assignee-${number % Math.max(1, ledger.disputes / 100)}&PageSize=${ROWS}`,
  ],
  lookup: (number, ledger) => [
    "POST",
    "/disputes/by-dispute-ids",
    {
      disputeIds: Array.from(
        { length: ROWS },
        (_, index) => `dispute-${spread(number + index, ledger)}`,
      ),
    },
  ],
  update: (number, ledger) => [
    "PUT",
    `/disputes/dispute-${openOne(number, ledger)}`,
    { poNumber: `PO ${(changed += 1)}` },
  ],
  create: () => {
    created += 1;
    return [
      "POST",
      "/disputes",
      { amount: 5, accountNumber: "new", documentNumber: `new-${created}`, reasonId: "reason" },
    ];
  },
};

const call = async ({ platform }: Bench, ledger: Ledger, ask: ReturnType<Ask>): Promise<void> => {
  const [method, path, body] = ask;
  const response = await platform.fetch(
    new Request(`http://bench/dispute/v1/tenants/${ledger.tenantId}${path}`, {
      method,
      headers: { "X-Platform-Api-Key": ledger.apiKey, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  await response.text();
  if (response.status >= 400) throw new Error(`${path}: ${response.status}`);
};

const middleCall = async (bench: Bench, ledger: Ledger, ask: Ask): Promise<number> => {
  const times: number[] = [];
  for (let number = 0; number < CALLS; number += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one at a time is what is measured
    times.push(await wallMs(() => call(bench, ledger, ask(number, ledger))));
  }
  return median(times);
};

const openOnPostgres = async (): Promise<Bench> => {
  const server = await startPostgres();
  const bench = await openLedgers(SIZES, () => openPostgres(server.url, SIGNING));
  // As autovacuum does a minute later, which would otherwise run amid the measurement.
  await sql`vacuum analyze`.execute(bench.store.read);
  const close = async (): Promise<void> => {
    await bench.close();
    await server.stop();
  };
  return { ...bench, close };
};

const shared = new Map<Store["dialect"], Promise<Bench>>();

/** The ledgers are filled once for all benchmarks of a store. */
const openShared = (name: Store["dialect"]): Promise<Bench> => {
  const known = shared.get(name);
  if (known !== undefined) return known;
  const opened = name === "sqlite" ? openLedgers(SIZES) : openOnPostgres();
  process.once("beforeExit", () => opened.then((bench) => bench.close()));
  shared.set(name, opened);
  return opened;
};

const WARM_UP = 2;

/** Measures the ledgers in turn; returns the samples of the dearest and of the cheapest one. */
const compareSizes = async (bench: Bench, ask: Ask, { runs }: Options): Promise<Samples> => {
  const samples = bench.ledgers.map((): number[] => []);
  for (let run = -WARM_UP; run < runs; run += 1) {
    for (const [place, ledger] of bench.ledgers.entries()) {
      // oxlint-disable-next-line no-await-in-loop -- one at a time is what is measured
      const cost = await middleCall(bench, ledger, ask);
      if (run >= 0) samples[place]?.push(cost);
    }
  }
  const ordered = samples.toSorted((a, b) => median(a) - median(b));
  return { ours: ordered.at(-1) ?? [], base: ordered[0] ?? [] };
};

const benchmarksOf = (store: Store["dialect"]): Benchmark[] =>
  Object.entries(ASKS).map(([name, ask]) => ({
    name: `scale-${store}-${name}`,
    about: `disputes ${name} in tenants with ${SIZES.join(", ")} disputes: the dearest / the cheapest`,
    unit: "ms",
    aim: 1.2,
    shares: `disputes on ${store}`,
    run: async (options) => compareSizes(await openShared(store), ask, options),
  }));

export const scaleBenchmarks: readonly Benchmark[] = [
  ...benchmarksOf("sqlite"),
  ...benchmarksOf("postgres"),
];
