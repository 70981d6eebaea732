import { createRemoteTransport } from "../../src/client/remote.ts";
import { TriageBody } from "../../src/contract/insights/dispute-triage.ts";
import { utcCalendar } from "../../src/contract/insights/calendar.ts";
import { disputesTriage } from "../../src/insights/disputes-triage.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { matchDisputes } from "../../src/platform/store/queries/summaries/dispute-filters.ts";
import { rankDisputes } from "../../src/platform/store/queries/summaries/triage.ts";
import { createPlatformListener } from "../../src/server/serve.ts";
import { atMost, type Benchmark, interleaved } from "../measure.ts";
import { type Served, STORES } from "../platform/served.ts";
import { serveLocally } from "../serving.ts";
import { createContext } from "./context.ts";

const DISPUTES = Number(process.env["BENCH_TRIAGED_DISPUTES"] ?? 200_000);
const MOST_RUNS = 7;

/** Runs the SQL of a worklist alone. */
const rankBare = async ({ store, ledgers: [{ tenantId }] }: Served): Promise<void> => {
  await using snapshot = await store.snapshot({ owner: tenantId, aggregates: true });
  const { db } = snapshot;
  const { limit, orderBy, ...filters } = TriageBody.parse({});
  const asOf = systemClock();
  const offsets = [{ at: 0, offset: 0 }];
  const calendar = utcCalendar;
  const period = { tenantId, asOf, isPast: false, calendar, ended: new Map(), offsets };
  await rankDisputes({
    db,
    period,
    where: await matchDisputes(db, filters, period),
    isMixed: false,
    days: { usual: null },
    hasConfiguration: true,
    flags: [],
    orderBy,
    limit,
    offset: 0,
  });
};

/** The first page of a worklist by the tool's computation over a connection, against its SQL. */
export const triageBenchmarks: readonly Benchmark[] = Object.entries(STORES).map(
  ([store, { open, cost, unit }]): Benchmark => ({
    name: `insights-triage-${store}`,
    about: `disputes_triage of ${DISPUTES} disputes over HTTP on ${store} / its SQL`,
    unit,
    aim: 1.2,
    async run(options) {
      const bench = await open(DISPUTES);
      await bench.settle();
      const served = await serveLocally(createPlatformListener(bench.platform));
      const baseUrls = { gateway: served.url, export: served.url };
      const transport = createRemoteTransport({ baseUrls, requestMs: 60_000 });
      const context = createContext(bench, { isExtended: true, transport });
      const args = disputesTriage.input.parse({});
      const triage = async (): Promise<void> => {
        const { items, notes } = await disputesTriage.run(context, args);
        if (items.length !== 15) throw new Error(`${items.length} items: ${notes.join(" ")}`);
      };
      try {
        return await interleaved(
          { ours: () => cost(triage), base: () => cost(() => rankBare(bench)) },
          atMost(MOST_RUNS, options),
        );
      } finally {
        await transport.close();
        await served.close();
        await bench.close();
      }
    },
  }),
);
