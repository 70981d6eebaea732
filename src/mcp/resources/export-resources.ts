import { ResourceNotFoundError } from "@modelcontextprotocol/server";
import type { CallOptions } from "../../client/port.ts";
import { contract } from "../../contract/index.ts";
import type { PaymentSchema } from "../../contract/operations/payments.ts";
import { shortenSchema } from "../../contract/payments/brief-schema.ts";
import { isRecord } from "../../kit/json.ts";
import type { CallerContext } from "../caller.ts";
import { type Fields, fitRecord, truncateToBudget, cost } from "../results/budget.ts";
import { EXPORT_SCHEMA, EXPORT_RUNS } from "../results/resource-uris.ts";
import { sanitizeText } from "../results/sanitize.ts";
import { budgetOf, MARGIN_TOKENS, truncatePart } from "./part.ts";
import { protocolError } from "../results/protocol-errors.ts";
import type { RunsState } from "./watches.ts";

const findSource = ({ sources }: PaymentSchema, source: string): Fields => {
  const found = sources.find(({ source: name }) => sanitizeText(name, "stored") === source);
  if (found === undefined) throw new ResourceNotFoundError(`${EXPORT_SCHEMA}/${source}`);
  return found;
};

/** Shortens one source like the whole schema. */
const shortenSource = (source: Fields): Fields => {
  const { sources, ...rest } = shortenSchema({ sources: [source] });
  return { ...rest, ...(Array.isArray(sources) && isRecord(sources[0]) ? sources[0] : source) };
};

/** Reads the sources of payments with their fields, or one source. */
export const readPaymentSchema = async (
  { broker, settings }: CallerContext,
  options: CallOptions,
  source?: string,
): Promise<Fields> => {
  const { output: schema } = await broker.call(contract.payments.schema, {}, options);
  const budget = settings.answerTokens - MARGIN_TOKENS;
  return source === undefined
    ? fitRecord(schema, contract.payments.schema.brief, budget).record
    : fitRecord(findSource(schema, source), { shorten: shortenSource }, budget).record;
};

const { schedules, export_runs } = contract;

const FIRST_ROWS = 100;

const readStatus = async (
  { broker }: Pick<CallerContext, "broker">,
  args: { scheduleId: string; limit?: number },
  options: CallOptions,
) => (await broker.call(export_runs.status, args, options)).output;

/** Reads a schedule with its runs, the newest first. */
export const readRuns = async (
  context: CallerContext,
  scheduleId: string,
  options: CallOptions,
): Promise<Fields> => {
  const budget = budgetOf(context);
  const { schedule, data, pagination } = await readStatus(context, { scheduleId }, options);
  const { record } = truncateToBudget(schedule, Math.floor(budget / 2));
  const part = { items: data, total: null, truncated: pagination.hasMore };
  return { schedule: record, runs: truncatePart(part, budget - cost(record)) };
};

/** Reads a run, with its first rows if it is completed. */
export const readRun = async (
  context: CallerContext,
  scheduleId: string,
  runId: string,
  options: CallOptions,
): Promise<Fields> => {
  const budget = budgetOf(context);
  const { data: runs } = await readStatus(context, { scheduleId }, options);
  const listed = runs.find((run) => run.runId === runId);
  if (listed !== undefined && listed.status !== "completed") {
    return { run: truncateToBudget(listed, budget).record };
  }
  const args = { scheduleId, runId, limit: FIRST_ROWS };
  const { output } = await context.broker.call(export_runs.data, args, options);
  const { data, pagination, ...head } = output;
  const { record } = truncateToBudget(listed ?? head, Math.floor(budget / 2));
  const part = { items: data, total: null, truncated: pagination.hasMore };
  return { run: record, rows: truncatePart(part, budget - cost(record)) };
};

const ENDED: readonly string[] = ["completed", "failed", "canceled"];
// More runs than can end between two polls of a watch.
const NEWEST = 20;

/** Creates the reader of a schedule's state for watches. */
export const createReadState =
  (context: CallerContext) =>
  async (scheduleId: string, options: CallOptions): Promise<RunsState> => {
    try {
      const { schedule, data } = await readStatus(context, { scheduleId, limit: NEWEST }, options);
      const nextRunAt = Date.parse(schedule.nextRunAt ?? "");
      const ended = data.filter(({ status }) => ENDED.includes(status));
      return {
        ended: ended.map(({ runId }) => runId),
        isUnderWay: ended.length < data.length,
        nextRunAt: Number.isNaN(nextRunAt) ? null : nextRunAt,
      };
    } catch (error) {
      throw protocolError(`${EXPORT_RUNS}${encodeURIComponent(scheduleId)}`, error);
    }
  };

/** Returns ids of the schedules whose id or name begins with the typed text. */
export const completeSchedule = async (
  { broker }: CallerContext,
  typed: string,
  options: CallOptions,
): Promise<string[]> => {
  const { output } = await broker.call(schedules.list, {}, options);
  const start = typed.toLowerCase();
  return output.data
    .filter(({ id, scheduleName }) =>
      [id, scheduleName ?? ""].some((text) => text.toLowerCase().startsWith(start)),
    )
    .map(({ id }) => sanitizeText(id, "stored"));
};

/** Returns ids of a schedule's runs that begin with the typed text, the newest first. */
export const completeRun = async (
  context: CallerContext,
  scheduleId: string,
  typed: string,
  options: CallOptions,
): Promise<string[]> =>
  (await readStatus(context, { scheduleId }, options)).data
    .map(({ runId }) => sanitizeText(runId, "stored"))
    .filter((id) => id.startsWith(typed));
