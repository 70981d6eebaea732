import { contract } from "../src/contract/index.ts";
import { type Operator, OPERATOR_NAMES } from "../src/contract/payments/operators.ts";
import { formatName, quoteUrl, quote } from "./formatting.ts";
import { defineTool, type Arguments, type Confirmation } from "./tool.ts";

const { payments, webhooks, schedules, export_runs: runs } = contract;

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

/** The operators whose names are no plain words. */
const PLAIN_WORDS: Readonly<Partial<Record<Operator, string>>> = {
  eq: "equal",
  ne: "not equal",
  nin: "not in",
  gt: "above",
  gte: "at least",
  lt: "below",
  lte: "at most",
};

const explainOperator = (name: Operator): string => {
  const words = PLAIN_WORDS[name];
  return words === undefined ? name : `${name} (${words})`;
};

export const paymentTools = [
  defineTool(
    payments.schema,
    "List the payment sources, their fields and each field's operators. Read it before payments_query.",
    { title: "Get payment schema" },
  ),
  defineTool(
    payments.query,
    `Query payments. filters: {"applicationStatus": {"in": ["partial", "unapplied"]}, "paymentDate": {"gte": "2026-01-01"}}; not {"field": "value"}. Operators: ${OPERATOR_NAMES.map(explainOperator).join(", ")}.`,
    { title: "Query payments" },
  ),
  defineTool(webhooks.list),
  defineTool(
    webhooks.create,
    "Register a URL that is called when scheduled runs finish; asks the person first. The signing secret goes to the person's secret store; returns its name there.",
    {
      confirm: {
        reads: {},
        question({ callbackUrl, scheduleId = "" }) {
          const whose = scheduleId === "" ? "every schedule" : `schedule ${formatName(scheduleId)}`;
          return `Send the outcome of each run of ${whose} to ${quoteUrl(callbackUrl)}?`;
        },
      },
    },
  ),
  defineTool(webhooks.list_deliveries, undefined, { title: "List webhook deliveries" }),
  defineTool(webhooks.delete, undefined, {
    confirm: {
      reads: {
        webhook: {
          operation: webhooks.list,
          args: () => ({}),
          isRecord: (row, { id }) => row["id"] === id,
        },
      },
      question({ id }, { webhook }) {
        const which = quoteUrl(webhook?.["callbackUrl"] ?? id);
        return `Delete webhook ${which}? It receives no further events.`;
      },
    },
  }),
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
