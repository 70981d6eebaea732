import { contract } from "../src/contract/index.ts";
import { formatName, quote } from "./formatting.ts";
import { type Arguments, type Confirmation, defineTool } from "./tool.ts";

const { schedules, export_runs: runs } = contract;

const MINUTE_MS = 60_000;

const describeSchedule = (found: Arguments | undefined, id: unknown): string => {
  if (found === undefined) return quote(id);
  const { scheduleName, source, intervalMs } = found;
  const often = `${formatName(source)} every ${Number(intervalMs) / MINUTE_MS} minutes`;
  return scheduleName === null
    ? `${quote(id)} (${often})`
    : `${formatName(scheduleName)} (${often})`;
};

const scheduleDeletion: Confirmation = {
  reads: {
    schedule: {
      operation: schedules.list,
      args: () => ({}),
      isRecord: (row, { id }) => row["id"] === id,
    },
  },
  question: ({ id }, { schedule }) =>
    `Delete schedule ${describeSchedule(schedule, id)}? It stops running; its past runs remain.`,
};

export const scheduleTools = [
  defineTool(schedules.list),
  defineTool(
    schedules.create,
    "Schedule a recurring payment query; each run stores its rows. Test the filters with payments_query first.",
  ),
  defineTool(schedules.delete, undefined, { confirm: scheduleDeletion }),
  defineTool(runs.status, "List a schedule's runs, newest first, with their errors.", {
    title: "List export runs",
  }),
  defineTool(runs.data, "Read the stored rows of a run; default: the newest completed run.", {
    title: "Read an export run",
  }),
];
