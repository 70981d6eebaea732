import { z } from "zod";
import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import { sanitizeText } from "../results/sanitize.ts";
import { cost, type Fields, truncateToBudget } from "../results/budget.ts";
import type { CallerContext } from "../caller.ts";
import { MARGIN_TOKENS, type Part, truncatePart } from "./part.ts";
import { protocolError } from "../results/protocol-error.ts";
import { EXPORT_RUNS } from "../results/resource-uris.ts";
import type { RunsState } from "./watches.ts";

type Asked = { tool: string; signal: AbortSignal };

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

/** An answer as the interface describes it; another platform may give something else. */
const shaped = <S extends z.ZodType>(schema: S, output: unknown): z.output<S> => {
  const { data } = schema.safeParse(output);
  if (data !== undefined) return data;
  throw new Problem("unavailable", "The platform's answer does not have the documented form.");
};

const partOf = (items: Fields[], hasMore: boolean): Part => ({
  items,
  total: null,
  truncated: hasMore,
});

/** A schedule's runs, and a run with its first rows. */
export const createReadExports = ({
  broker,
  settings,
}: Pick<CallerContext, "broker" | "settings">) => {
  const budget = settings.answerTokens - 2 * MARGIN_TOKENS;

  const statusOf = async (scheduleId: string, asked: Asked) =>
    shaped(Runs, (await broker.call(export_runs.status, { scheduleId }, asked)).output);

  const runs = async (scheduleId: string, asked: Asked): Promise<Fields> => {
    const { schedule, data, pagination } = await statusOf(scheduleId, asked);
    const { record } = truncateToBudget(schedule, Math.floor(budget / 2));
    return {
      schedule: record,
      runs: truncatePart(partOf(data, pagination.hasMore), budget - cost(record)),
    };
  };

  const run = async (scheduleId: string, runId: string, asked: Asked): Promise<Fields> => {
    const { data: all } = await statusOf(scheduleId, asked);
    const known = all.find((one) => one.runId === runId);
    const isOver = known !== undefined && known.status !== "completed";
    if (isOver) return { run: truncateToBudget(known, budget).record };
    const args = { scheduleId, runId, limit: FIRST_ROWS };
    const { output } = await broker.call(export_runs.data, args, asked);
    const { data, pagination, ...head } = shaped(Rows, output);
    const { record } = truncateToBudget(known ?? head, Math.floor(budget / 2));
    return {
      run: record,
      rows: truncatePart(partOf(data, pagination.hasMore), budget - cost(record)),
    };
  };

  return { runs, run };
};

const ENDED: readonly string[] = ["completed", "failed", "canceled"];
// A watch looks more often than so many runs can end.
const NEWEST = 20;

/** What a watch of a schedule's runs needs to know of them. */
export const createReadState = ({ broker }: Pick<CallerContext, "broker">) => {
  const read = async (scheduleId: string, asked: Asked): Promise<RunsState> => {
    const args = { scheduleId, limit: NEWEST };
    const { output } = await broker.call(export_runs.status, args, asked);
    const { schedule, data } = shaped(Runs, output);
    const nextRunAt = Date.parse(String(schedule["nextRunAt"]));
    const ended = data.filter(({ status }) => ENDED.includes(status));
    return {
      ended: ended.map(({ runId }) => runId),
      isUnderWay: ended.length < data.length,
      nextRunAt: Number.isNaN(nextRunAt) ? null : nextRunAt,
    };
  };
  return (scheduleId: string, asked: Asked): Promise<RunsState> =>
    read(scheduleId, asked).catch((error: unknown) => {
      throw protocolError(`${EXPORT_RUNS}${encodeURIComponent(scheduleId)}`, error);
    });
};

type Completing = Pick<CallerContext, "broker">;

/** Ids of the schedules whose id or name begins with what is typed. */
export const completeSchedule = async (
  { broker }: Completing,
  typed: string,
  asked: Asked,
): Promise<string[]> => {
  const { data } = shaped(Schedules, (await broker.call(schedules.list, {}, asked)).output);
  const sought = typed.toLowerCase();
  return data
    .filter(({ id, scheduleName }) =>
      [id, scheduleName ?? ""].some((text) => text.toLowerCase().startsWith(sought)),
    )
    .map(({ id }) => sanitizeText(id));
};

/** Ids of a schedule's runs, the newest first. */
export const completeRun = async (
  { broker }: Completing,
  scheduleId: string,
  typed: string,
  asked: Asked,
): Promise<string[]> => {
  const { output } = await broker.call(export_runs.status, { scheduleId }, asked);
  return shaped(Runs, output)
    .data.map(({ runId }) => sanitizeText(runId))
    .filter((id) => id.startsWith(typed));
};
