import { ResourceNotFoundError } from "@modelcontextprotocol/server";
import type { CallOptions } from "../../client/port.ts";
import { contract } from "../../contract/index.ts";
import type { CallArguments, Operation } from "../../contract/operation.ts";
import type { PaymentSchema } from "../../contract/operations/payments.ts";
import { shortenSchema } from "../../contract/payments/brief-schema.ts";
import { isRecord } from "../../kit/json.ts";
import type { CallerContext } from "../caller.ts";
import { createLazy } from "../../kit/lazily.ts";
import { type Fields, fitRecord } from "../results/budget.ts";
import { EXPORT_SCHEMA, EXPORT_RUNS } from "../results/resource-uris.ts";
import { sanitizeText } from "../results/sanitize.ts";
import { MARGIN_TOKENS, partOf, readWhole } from "./part.ts";
import type { Paging } from "../results/pages.ts";
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
export const readRuns = (
  context: CallerContext,
  scheduleId: string,
  options: CallOptions,
  paging: Paging,
): Promise<Fields> => {
  const first = createLazy(() => context.broker.call(export_runs.status, { scheduleId }, options));
  return readWhole(context, paging, {
    record: {
      name: "schedule",
      read: async () => (await first()).output.schedule,
    },
    lists: {
      runs: partOf(context, {
        operation: export_runs.status,
        args: { scheduleId },
        ask: async (args) =>
          args["cursor"] === undefined
            ? first()
            : context.broker.call<Operation>(export_runs.status, args, options),
      }),
    },
  });
};

/** Reads a run, with its rows if it is completed. */
export const readRun = async (
  context: CallerContext,
  scheduleId: string,
  runId: string,
  options: CallOptions,
  paging: Paging,
): Promise<Fields> => {
  const { data: runs } = await readStatus(context, { scheduleId }, options);
  const listed = runs.find((run) => run.runId === runId);
  const run = { name: "run", read: async (): Promise<Fields> => listed ?? (await readHead()) };
  if (listed !== undefined && listed.status !== "completed") {
    return readWhole(context, paging, { record: run, lists: {} });
  }
  const args = { scheduleId, runId };
  const first = createLazy(async () => {
    const page = { ...args, limit: FIRST_ROWS };
    return context.broker.call(export_runs.data, page, options);
  });
  const readHead = async (): Promise<Fields> => {
    const { data: _data, pagination: _pagination, ...head } = (await first()).output;
    return head;
  };
  const ask = async (more: CallArguments) =>
    more["cursor"] === undefined
      ? first()
      : context.broker.call<Operation>(export_runs.data, more, options);
  const rows = partOf(context, { operation: export_runs.data, args, ask });
  return readWhole(context, paging, { record: run, lists: { rows } });
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
