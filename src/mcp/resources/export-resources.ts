import { ResourceNotFoundError } from "@modelcontextprotocol/server";
import type { CallOptions } from "../../client/port.ts";
import { contract } from "../../contract/index.ts";
import { shortenSchema } from "../../contract/payments/brief-schema.ts";
import { isRecord } from "../../kit/json.ts";
import type { CallerContext } from "../caller.ts";
import { createLazy } from "../../kit/lazily.ts";
import { type Fields, fitRecord } from "../results/budget.ts";
import { EXPORT_SCHEMA, EXPORT_RUNS } from "../results/resource-uris.ts";
import { sanitizeText } from "../results/sanitize.ts";
import { MARGIN_TOKENS, partOf, readWhole } from "./part.ts";
import type { Paging } from "../results/pages.ts";
import { z } from "zod";
import { malformedResponse } from "../results/refusal.ts";
import { protocolError } from "../results/protocol-errors.ts";
import type { RunsState } from "./watches.ts";

const findSource = (schema: Fields, source: string): Fields => {
  const sources: unknown[] = Array.isArray(schema["sources"]) ? schema["sources"] : [];
  const found = sources
    .filter(isRecord)
    .find(
      ({ source: name }) => typeof name === "string" && sanitizeText(name, "stored") === source,
    );
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
  const schema = (await broker.call(contract.payments.schema, {}, options)).output as Fields;
  const budget = settings.answerTokens - MARGIN_TOKENS;
  return source === undefined
    ? fitRecord(schema, contract.payments.schema.brief, budget).record
    : fitRecord(findSource(schema, source), { shorten: shortenSource }, budget).record;
};

const { schedules, export_runs } = contract;

const FIRST_ROWS = 100;

const Row = z.record(z.string(), z.unknown());
const Runs = z.looseObject({
  schedule: Row,
  data: z.array(z.looseObject({ runId: z.string(), status: z.string() })),
  pagination: z.looseObject({ hasMore: z.boolean() }),
});
const Rows = z.looseObject({
  data: z.array(Row),
  pagination: z.looseObject({ hasMore: z.boolean() }),
});
const Schedules = z.looseObject({
  data: z.array(z.looseObject({ id: z.string(), scheduleName: z.string().nullish() })),
});

/**
 * Parses a response of the platform.
 *
 * @throws {Problem} unavailable, if it does not have the documented form
 */
const parseOutput = <S extends z.ZodType>(schema: S, output: unknown): z.output<S> => {
  const { data } = schema.safeParse(output);
  if (data !== undefined) return data;
  throw malformedResponse();
};

const readStatus = async (
  { broker }: Pick<CallerContext, "broker">,
  args: { scheduleId: string; limit?: number },
  options: CallOptions,
) => parseOutput(Runs, (await broker.call(export_runs.status, args, options)).output);

/** Reads a schedule with its runs, the newest first. */
export const readRuns = (
  context: CallerContext,
  scheduleId: string,
  options: CallOptions,
  paging: Paging,
): Promise<Fields> => {
  const call = (args: Fields) => context.broker.call(export_runs.status, args, options);
  const first = createLazy(() => call({ scheduleId }));
  return readWhole(context, paging, {
    record: {
      name: "schedule",
      read: async () => parseOutput(Runs, (await first()).output).schedule,
    },
    lists: {
      runs: partOf(context, {
        operation: export_runs.status,
        args: { scheduleId },
        ask: (args) => (args["cursor"] === undefined ? first() : call(args)),
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
  const call = (more: Fields) => context.broker.call(export_runs.data, more, options);
  const first = createLazy(() => call({ ...args, limit: FIRST_ROWS }));
  const readHead = async (): Promise<Fields> => {
    const {
      data: _data,
      pagination: _pagination,
      ...head
    } = parseOutput(Rows, (await first()).output);
    return head;
  };
  const ask = (more: Fields) => (more["cursor"] === undefined ? first() : call(more));
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
      const nextRunAt = Date.parse(String(schedule["nextRunAt"]));
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
  return parseOutput(Schedules, output)
    .data.filter(({ id, scheduleName }) =>
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
