import { setTimeout } from "node:timers/promises";
import { accountOverview } from "../../src/insights/account-overview.ts";
import { disputePacket } from "../../src/insights/dispute-packet.ts";
import { disputesSummary } from "../../src/insights/disputes-summary.ts";
import { disputesTriage } from "../../src/insights/disputes-triage.ts";
import { findRecords } from "../../src/insights/find-records.ts";
import type { Insight } from "../../src/insights/insight.ts";
import { paymentsMatchDisputes } from "../../src/insights/payments-match-disputes.ts";
import { paymentsSummarize } from "../../src/insights/payments-summarize.ts";
import { atMost, type Benchmark, interleaved } from "../measure.ts";
import { DISPUTES, PAYMENT_ROWS, withContext } from "./context.ts";
import { toolPauses } from "./tool-pause.ts";
import { measureLongestTurn, MOST_MS } from "./turn.ts";

const MOST_RUNS = 3;
const IDLE_MS = 500;

const INSIGHTS: [insight: Insight, args: object][] = [
  [paymentsSummarize, { source: "cashapp", groupBy: ["payerName"] }],
  [disputesSummary, { groupBy: ["account", "age"] }],
  [disputesTriage, {}],
  [paymentsMatchDisputes, {}],
  [accountOverview, { account: "account-5" }],
  [disputePacket, { disputeId: "D-501-01" }],
  [findRecords, { text: "account-5" }],
];

const measureInsight =
  (isExtended: boolean, insight: Insight, args: object) => async (): Promise<number> => {
    const context = await withContext({ isExtended });
    return measureLongestTurn(() => insight.run(context, insight.input.parse(args)));
  };

const ofInsights = [false, true].flatMap((isExtended) =>
  INSIGHTS.map(([insight, args]): Benchmark => ({
    name: `insights-pause-${insight.name}-${isExtended ? "extended" : "paged"}`,
    about: `longest turn of the event loop over ${DISPUTES} disputes and ${PAYMENT_ROWS} payments / ${MOST_MS} ms`,
    unit: "ms CPU",
    aim: 1,
    shares: "disputes and payments",
    run: (options) =>
      interleaved(
        { ours: measureInsight(isExtended, insight, args), base: () => MOST_MS },
        atMost(MOST_RUNS, options),
      ),
  })),
);

const idle: Benchmark = {
  name: "insights-pause-idle",
  about: `longest turn of an event loop that has nothing to do / ${MOST_MS} ms`,
  unit: "ms CPU",
  aim: null,
  run: (options) =>
    interleaved(
      { ours: () => measureLongestTurn(() => setTimeout(IDLE_MS)), base: () => MOST_MS },
      atMost(MOST_RUNS, options),
    ),
};

/** Measures how long insights hold the event loop of a server that computes them and is the platform too. */
export const pauses: readonly Benchmark[] = [idle, ...ofInsights, toolPauses];
