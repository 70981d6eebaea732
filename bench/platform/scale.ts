import { type Benchmark, interleaved, median, wallMs } from "../measure.ts";
import { type Bench, type Ledger, openLedgers } from "./ledger.ts";

const SMALL = 1000;
const LARGE = 100_000;
const CALLS = 100;

type Ask = (number: number, ledger: Ledger) => [method: string, path: string, body?: unknown];

// Spread over the ledger, so that no page of the file is always the same one.
const spread = (number: number, { disputes }: Ledger): number => (number * 7919) % disputes;

// Of thirty neighbours, the second is open.
const openOne = (number: number, { disputes }: Ledger): number =>
  ((number * 7919) % Math.floor(disputes / 30)) * 30 + 1;

let changed = 0;
let created = 0;

const ASKS: Record<string, Ask> = {
  get: (number, ledger) => ["GET", `/disputes/dispute-${spread(number, ledger)}`],
  list: () => ["GET", "/disputes?PageSize=20"],
  "list-status": () => ["GET", "/disputes?Status=0&PageSize=20"],
  "list-amount": () => ["GET", "/disputes?Sort=-Amount&PageSize=20"],
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
    `/disputes?AssigneeId=assignee-${number % (ledger.disputes / 100)}&PageSize=20`,
  ],
  lookup: (number, ledger) => [
    "POST",
    "/disputes/by-dispute-ids",
    {
      disputeIds: Array.from(
        { length: 20 },
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

let shared: Promise<Bench> | undefined;

/** The two ledgers are filled once for all of these. */
const ledgers = (): Promise<Bench> => {
  if (shared !== undefined) return shared;
  const opened = openLedgers([SMALL, LARGE]);
  process.once("beforeExit", () => opened.then((bench) => bench.close()));
  shared = opened;
  return opened;
};

export const scaleBenchmarks: readonly Benchmark[] = Object.entries(ASKS).map(([name, ask]) => ({
  name: `scale-${name}`,
  about: `disputes ${name} in a tenant with ${LARGE} disputes / with ${SMALL}`,
  unit: "ms",
  aim: 1.2,
  async run(options) {
    const bench = await ledgers();
    const [small, large] = bench.ledgers;
    if (small === undefined || large === undefined) throw new Error("no ledgers");
    return interleaved(
      {
        ours: () => middleCall(bench, large, ask),
        base: () => middleCall(bench, small, ask),
      },
      options,
    );
  },
}));
