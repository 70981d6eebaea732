import { z } from "zod";
import pMap from "p-map";
import { contract } from "../contract/index.ts";
import type { ExportRun } from "../contract/operations/export-runs.ts";
import type { Schedule } from "../contract/operations/schedules.ts";
import type { Webhook, WebhookDelivery } from "../contract/operations/webhooks.ts";
import { formatTimestamp, MINUTE } from "../kit/clock.ts";
import { withoutNulls } from "./brief.ts";
import { defineInsight, type Fields, type InsightContext, mostItems } from "./insight.ts";
import { readPart } from "./read-part.ts";

const { schedules, export_runs, webhooks } = contract;

const LIMIT = 20;
const RUNS_READ = 20;
const AT_ONCE = 4;
/** The platform retries a delivery for less than 9 minutes. */
const RETRIES_MS = 10 * MINUTE;

/** One schedule with what was read of it; `runs` and `stalled` are undefined if they cannot be read. */
type Examined = {
  schedule: Schedule;
  runs: readonly ExportRun[] | undefined;
  stalled: readonly WebhookDelivery[] | undefined;
};

/** The most urgent comes first. */
const FINDINGS = ["failing", "overdue", "undelivered", "unknown", "waiting", "healthy"] as const;
type Finding = (typeof FINDINGS)[number];

const STEPS: Record<Exclude<Finding, "failing">, string> = {
  overdue: "Its run is overdue: the operator must check that a platform process is running.",
  undelivered:
    "Check the receiver; export_runs_data has the rows, and webhooks_list_deliveries each attempt.",
  unknown: "Its runs cannot be read.",
  waiting: "It has not run yet.",
  healthy: "",
};

const FAILURE_STEPS: Record<string, string> = {
  validation:
    "The query is no longer valid: try it with payments_query, then delete the schedule and create it again.",
  limit: "The run is too large: create a schedule with narrower filters.",
};
const OTHER_FAILURE = "The operator must look at the platform's log; the next run tries again.";

/** A delivery that was abandoned, or that failed and was not tried again in time. */
const isStalled = (now: number, { status, createdAt }: WebhookDelivery): boolean =>
  status === "abandoned" || (status === "failed" && now - Date.parse(createdAt) > RETRIES_MS);

/** The newest attempt per schedule of one webhook, as far as it is stalled; attempts come newest first. */
const findStalled = (now: number, attempts: readonly WebhookDelivery[]): WebhookDelivery[] => {
  const newest = new Map<string, WebhookDelivery>();
  for (const attempt of attempts) {
    if (!newest.has(attempt.scheduleId)) newest.set(attempt.scheduleId, attempt);
  }
  return [...newest.values()].filter((attempt) => isStalled(now, attempt));
};

const classify = (now: number, { schedule, runs, stalled }: Examined): Finding => {
  if (runs?.[0]?.status === "failed") return "failing";
  if (Date.parse(schedule.nextRunAt) + schedule.intervalMs < now) return "overdue";
  if (stalled !== undefined && stalled.length > 0) return "undelivered";
  if (runs === undefined) return "unknown";
  return runs.length === 0 ? "waiting" : "healthy";
};

const stepFor = (finding: Finding, [last]: readonly ExportRun[] = []): string =>
  finding === "failing" ? (FAILURE_STEPS[last?.errorStage ?? ""] ?? OTHER_FAILURE) : STEPS[finding];

const toLastRun = (run: ExportRun | undefined): Fields | null => {
  if (run === undefined) return null;
  const { scheduleId: _scheduleId, ...rest } = run;
  return withoutNulls(rest);
};

const toItem = (now: number, examined: Examined): Fields => {
  const { schedule, runs, stalled } = examined;
  const finding = classify(now, examined);
  return withoutNulls({
    scheduleId: schedule.id,
    scheduleName: schedule.scheduleName,
    source: schedule.source,
    everyMinutes: schedule.intervalMs / MINUTE,
    finding,
    nextStep: stepFor(finding, runs),
    nextRunAt: schedule.nextRunAt,
    lastRun: toLastRun(runs?.[0]),
    failedRuns: runs === undefined ? null : runs.filter(({ status }) => status === "failed").length,
    stalledDeliveries:
      stalled?.map(({ webhookId, status, httpStatus, error, createdAt }) =>
        withoutNulls({ webhookId, status, httpStatus, error, createdAt }),
      ) ?? null,
  });
};

const urgencyOf = ({ finding }: Fields): number => FINDINGS.indexOf(finding as Finding);

const readDeliveries = async (context: InsightContext, notes: Set<string>) => {
  const list = await readPart(context, webhooks.list, {});
  if (list.refused !== undefined) {
    notes.add(`Webhooks and their deliveries are unknown: ${list.refused.reason}`);
    return { stalled: undefined, webhooks: null };
  }
  let isKnown = true;
  const readStalled = async ({ id }: Webhook): Promise<WebhookDelivery[]> => {
    const operation = webhooks.list_deliveries;
    const part = await readPart(context, operation, { id });
    if (part.refused === undefined) return findStalled(context.now(), part.value.data);
    notes.add(`The deliveries of a webhook are unknown: ${part.refused.reason}`);
    isKnown = false;
    return [];
  };
  const stalled = (await pMap(list.value.data, readStalled, { concurrency: AT_ONCE })).flat();
  return { stalled: isKnown ? stalled : undefined, webhooks: list.value.data.length };
};

const readRuns = async (context: InsightContext, scheduleId: string, notes: Set<string>) => {
  const args = { scheduleId, limit: RUNS_READ };
  const part = await readPart(context, export_runs.status, args);
  if (part.refused === undefined) return part.value.data;
  notes.add(`The runs of a schedule are unknown: ${part.refused.reason}`);
  return undefined;
};

const count = (items: readonly Fields[], finding: Finding): number =>
  items.filter((item) => item["finding"] === finding).length;

/** The export schedules with their runs and deliveries, those that need attention first. */
export const exportHealth = defineInsight({
  name: "export_health",
  title: "Health of export schedules",
  input: z.strictObject({
    limit: z.int().min(1).max(100).default(LIMIT).meta({ description: "default 20" }),
  }),
  item: z.object({
    scheduleId: z.string(),
    scheduleName: z.string(),
    source: z.string(),
    everyMinutes: z.number(),
    finding: z.string(),
    nextStep: z.string(),
    nextRunAt: z.string(),
    lastRun: z.object({}),
    failedRuns: z.int(),
    stalledDeliveries: z.array(z.object({})),
  }),
  figures: z.object({
    failing: z.int().nullable(),
    overdue: z.int(),
    undelivered: z.int().nullable(),
    webhooks: z.int().nullable(),
  }),
  needs: [schedules.list],
  async run(context, { limit }) {
    const { call, now } = context;
    const asOf = formatTimestamp(now());
    const { data } = (await call(schedules.list, {})).output;
    const notes = new Set<string>();
    const deliveries = await readDeliveries(context, notes);
    let [examined, unread] = [0, 0];
    const examine = async (schedule: Schedule): Promise<Fields> => {
      const runs = await readRuns(context, schedule.id, notes);
      examined += 1;
      if (runs === undefined) unread += 1;
      await context.progress(`Examined ${examined} of ${data.length} schedules.`);
      const stalled = deliveries.stalled?.filter(({ scheduleId }) => scheduleId === schedule.id);
      return toItem(now(), { schedule, runs, stalled });
    };
    const items = await pMap(data, examine, { concurrency: AT_ONCE });
    const sorted = items.toSorted((a, b) => urgencyOf(a) - urgencyOf(b));
    return {
      asOf,
      filter: {},
      rowCount: data.length,
      truncated: false,
      currencyTotals: [],
      failing: unread > 0 ? null : count(items, "failing"),
      overdue: count(items, "overdue"),
      undelivered: deliveries.stalled === undefined ? null : count(items, "undelivered"),
      webhooks: deliveries.webhooks,
      notes: [...notes],
      itemsTotal: items.length,
      items: sorted.slice(context.skip, context.skip + mostItems(context, limit)),
    };
  },
});
