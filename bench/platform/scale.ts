import { sql } from "kysely";
import type { Store } from "../../src/platform/store/port.ts";
import {
  type Benchmark,
  closeAtEnd,
  median,
  type Options,
  type Samples,
  wallMs,
} from "../measure.ts";
import { type Bench, type Ledger, openLedgers } from "./ledger.ts";
import { openPostgresLedgers } from "./postgres-ledgers.ts";

const SIZES = [10, 1000, 100_000];
const CALLS = 100;
/** Rows of a page, which each of the ledgers has. */
const ROWS = 5;

type Ask = [method: string, path: string, body?: unknown];

type Asked = {
  ask(number: number, ledger: Ledger): Ask;
  /** Takes back what the request changed, so that the ledger keeps its size. */
  undo?(answer: { disputeId: string }): Ask;
};

// Spread over the ledger, so that no page of the file is always the same one.
const spread = (number: number, { disputes }: Ledger): number => (number * 7919) % disputes;

// Of thirty neighbours, the second is open.
const openOne = (number: number, { disputes }: Ledger): number =>
  ((number * 7919) % Math.max(1, Math.floor(disputes / 30))) * 30 + 1;

const read = (ask: (number: number, ledger: Ledger) => string): Asked => ({
  ask: (number, ledger) => ["GET", ask(number, ledger)],
});

const REQUESTS: Record<string, Asked> = {
  get: read((number, ledger) => `/disputes/dispute-${spread(number, ledger)}`),
  list: read(() => `/disputes?PageSize=${ROWS}`),
  "list-status": read(() => `/disputes?Status=0&PageSize=${ROWS}`),
  "list-amount": read(() => `/disputes?Sort=-Amount&PageSize=${ROWS}`),
  "list-account": read(
    (number, ledger) =>
      `/disputes?AccountNumber=account-${Math.floor(spread(number, ledger) / 10)}`,
  ),
  "list-document": read((number, ledger) => `/disputes?DocumentNumber=${spread(number, ledger)}`),
  "list-assignee": read(
    (number, ledger) =>
      `/disputes?AssigneeId=assignee-${number % Math.max(1, ledger.disputes / 100)}&PageSize=${ROWS}`,
  ),
  lookup: {
    ask: (number, ledger) => [
      "POST",
      "/disputes/by-dispute-ids",
      {
        disputeIds: Array.from(
          { length: ROWS },
          (_, index) => `dispute-${spread(number + index, ledger)}`,
        ),
      },
    ],
  },
  update: {
    ask: (number, ledger) => [
      "PUT",
      `/disputes/dispute-${openOne(number, ledger)}`,
      { poNumber: `PO ${number}` },
    ],
  },
  create: {
    ask: (number, ledger) => {
      const documentNumber = `new-${spread(number, ledger)}`;
      const accountNumber = `account-${Math.floor(spread(number, ledger) / 10)}`;
      return [
        "POST",
        "/disputes",
        { amount: 5, accountNumber, documentNumber, reasonId: "reason" },
      ];
    },
    undo: ({ disputeId }) => ["DELETE", `/disputes/${disputeId}`],
  },
};

const call = async (
  { platform }: Bench,
  { tenantId, apiKey }: Ledger,
  [method, path, body]: Ask,
): Promise<string> => {
  const response = await platform.fetch(
    new Request(`http://bench/dispute/v1/tenants/${tenantId}${path}`, {
      method,
      headers: { "X-Platform-Api-Key": apiKey, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  if (response.status >= 400) throw new Error(`${path}: ${response.status}`);
  return text;
};

const openOnPostgres = async (): Promise<Bench> => {
  const bench = await openPostgresLedgers(SIZES);
  // As autovacuum does a minute later, which would otherwise run amid the measurement.
  await sql`vacuum analyze`.execute(bench.store.read);
  return bench;
};

const shared = new Map<Store["dialect"], Promise<Bench>>();

/** The ledgers are filled once for all benchmarks of a store. */
const openShared = (name: Store["dialect"]): Promise<Bench> => {
  const known = shared.get(name);
  if (known !== undefined) return known;
  const opened = name === "sqlite" ? openLedgers(SIZES) : openOnPostgres();
  closeAtEnd(() => opened.then((bench) => bench.close()));
  shared.set(name, opened);
  return opened;
};

const WARM_UP = 4;

/** Asks the ledgers in turn. Returns the middle time of each one's calls. */
const measureRound = async (
  bench: Bench,
  { ask, undo }: Asked,
  first: number,
): Promise<number[]> => {
  const { ledgers } = bench;
  const times = ledgers.map((): number[] => []);
  for (let number = first; number < first + CALLS; number += 1) {
    for (const index of ledgers.keys()) {
      const place = (index + number) % ledgers.length;
      const ledger = ledgers[place];
      if (ledger === undefined) continue;
      let answer = "";
      const ms = await wallMs(async () => {
        answer = await call(bench, ledger, ask(number, ledger));
      });
      times[place]?.push(ms);
      if (undo !== undefined) await call(bench, ledger, undo(JSON.parse(answer)));
    }
  }
  return times.map(median);
};

/** Returns the samples of the dearest and of the cheapest ledger. */
const compareSizes = async (bench: Bench, request: Asked, { runs }: Options): Promise<Samples> => {
  const samples = bench.ledgers.map((): number[] => []);
  for (let run = -WARM_UP; run < runs; run += 1) {
    const round = await measureRound(bench, request, (run + WARM_UP) * CALLS);
    if (run >= 0) for (const [place, ms] of round.entries()) samples[place]?.push(ms);
  }
  const ordered = samples.toSorted((a, b) => median(a) - median(b));
  return { ours: ordered.at(-1) ?? [], base: ordered[0] ?? [] };
};

const benchmarksOf = (store: Store["dialect"]): Benchmark[] =>
  Object.entries(REQUESTS).map(([name, request]) => ({
    name: `scale-${store}-${name}`,
    about: `disputes ${name} in tenants with ${SIZES.join(", ")} disputes, asked in turn: the dearest / the cheapest`,
    unit: "ms",
    aim: 1.2,
    shares: `disputes on ${store}`,
    run: async (options) => compareSizes(await openShared(store), request, options),
  }));

export const scaleBenchmarks: readonly Benchmark[] = [
  ...benchmarksOf("sqlite"),
  ...benchmarksOf("postgres"),
];
