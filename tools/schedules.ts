import { contract } from "../src/contract/index.ts";
import { named, quoted } from "./shown.ts";
import { type Arguments, type Consent, tool } from "./tool.ts";

const { schedules, export_runs: runs } = contract;

const MINUTE_MS = 60_000;

const scheduleNamed = (list: Arguments | undefined, id: unknown): string => {
  const all = Array.isArray(list?.["data"]) ? (list["data"] as Arguments[]) : [];
  const found = all.find((one) => one["id"] === id);
  if (found === undefined) return quoted(id);
  const { scheduleName, source, intervalMs } = found;
  const often = `${named(source)} every ${Number(intervalMs) / MINUTE_MS} minutes`;
  return scheduleName === null ? `${quoted(id)} (${often})` : `${named(scheduleName)} (${often})`;
};

const ending: Consent = {
  reads: { schedules: schedules.list },
  question: ({ id }, { schedules: list }) =>
    `End schedule ${scheduleNamed(list, id)}? It runs no more; the runs it had stay.`,
};

export const scheduleTools = [
  tool(schedules.list),
  tool(
    schedules.create,
    "Run a payment query again and again; each run freezes its rows. Try the filters with payments_query first.",
  ),
  tool(schedules.delete, undefined, { confirm: ending }),
  tool(runs.status, "List a schedule's runs, newest first, with what failed and where.", {
    title: "List export runs",
  }),
  tool(
    runs.data,
    "Read the frozen rows of a run, the newest completed one unless runId names another.",
    {
      title: "Read an export run",
    },
  ),
];
