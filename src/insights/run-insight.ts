import type { CallArguments } from "../contract/operation.ts";
import { Problem } from "../contract/errors.ts";
import type { Calendar } from "../contract/insights/calendar.ts";
import { SECOND } from "../kit/clock.ts";
import type { Insight, InsightContext, InsightResult } from "./insight.ts";

/** A context before its time has begun. */
export type StartContext = Omit<InsightContext, "endsAt" | "skip" | "isWhole"> & {
  skip?: number;
  isWhole?: boolean;
};

/** Calls with a note of whether any was answered; that a record does not exist is an answer, too. */
const watchCalls = ({ call }: Pick<StartContext, "call">) => {
  let isAnswered = false;
  let refusal: Problem | undefined;
  const watched: InsightContext["call"] = async (operation, args) => {
    try {
      const reply = await call(operation, args);
      isAnswered = true;
      return reply;
    } catch (error) {
      if (error instanceof Problem && error.status !== 404) refusal ??= error;
      else isAnswered = true;
      throw error;
    }
  };
  return { call: watched, refusal: () => (isAnswered ? undefined : refusal) };
};

/** A context whose calls are refused after its end, or after the host has canceled. */
const createTimedContext = (start: StartContext) => {
  const { now, signal, limits } = start;
  const endsAt = now() + limits.ms;
  const seconds = limits.ms / SECOND;
  const watched = watchCalls(start);
  let isLate = false;
  const call: InsightContext["call"] = async (operation, args) => {
    if (signal.aborted) throw new Problem("unavailable", "The host canceled the call.");
    if (now() < endsAt) return watched.call(operation, args);
    isLate = true;
    throw new Problem("unavailable", `Reading took ${seconds} seconds.`);
  };
  const notes = (): string[] =>
    isLate ? [`Reading took ${seconds} seconds; the parts left out by then are missing.`] : [];
  return {
    context: { ...start, skip: start.skip ?? 0, isWhole: start.isWhole ?? false, endsAt, call },
    notes,
    refusal: watched.refusal,
  };
};

/** The conditions whose values an assistant can get wrong, and find_records knows. */
const NAMED = [
  "accountNumber",
  "accountName",
  "parentAccountNumber",
  "documentNumber",
  "disputeCode",
  "payerName",
];

/** Ranges that nothing is within if they are sent the wrong way round. */
const RANGES = [
  ["from", "to"],
  ["createdFrom", "createdTo"],
  ["closedFrom", "closedTo"],
  ["dueFrom", "dueTo"],
  ["since", "until"],
  ["amountMin", "amountMax"],
] as const;

const isReversed = ({ startOf, endOf }: Calendar, from: unknown, to: unknown): boolean =>
  typeof from === "number" && typeof to === "number"
    ? from > to
    : typeof from === "string" && typeof to === "string" && startOf(from) > endOf(to);

type Time = { calendar: Calendar; now: number };

const isFuture = ({ calendar, now }: Time, day: unknown): day is string =>
  typeof day === "string" && calendar.startOf(day) > now;

/** Beginnings of what has happened, which nothing can be after. */
const BEGINNINGS = ["from", "createdFrom", "closedFrom", "since"];

/** Says of a day that has not come what its figures are. */
const describeFuture = ({ rowCount, filter }: InsightResult, time: Time): string[] => {
  const { asOf } = filter;
  const empty = BEGINNINGS.filter((name) => rowCount === 0 && isFuture(time, filter[name]));
  return [
    ...(isFuture(time, asOf)
      ? [`${asOf} has not come: ages are those of that day, all else is that of now.`]
      : []),
    ...empty.map(
      (name) => `Nothing matches, because ${name} ${String(filter[name])} has not come.`,
    ),
  ];
};

/** Says how the names and numbers of records are found by which nothing matches; nothing without such filters. */
export const adviseSearch = (filters: readonly string[]): string[] =>
  filters.length === 0
    ? []
    : [`Nothing matches. find_records finds the right ${filters.join(" and ")}.`];

const describeNothing = ({ rowCount, filter }: InsightResult, calendar: Calendar): string[] => {
  if (rowCount > 0) return [];
  const reversed = RANGES.filter(([from, to]) => isReversed(calendar, filter[from], filter[to]));
  const named = NAMED.filter((name) => filter[name] !== undefined);
  return [
    ...reversed.map(([from, to]) => `Nothing matches, because ${from} is greater than ${to}.`),
    ...adviseSearch(named),
  ];
};

/**
 * Runs an insight with validated arguments within the time limit: a call past it is refused, and the answer is partial.
 *
 * @throws {Problem} the platform's refusal, also if an insight would answer without parts but nothing was read; or
 *   `unavailable` if the time was over before anything was read
 */
export const runInsight = async (
  insight: Insight,
  start: StartContext,
  args: CallArguments,
): Promise<InsightResult> => {
  const { context, notes, refusal } = createTimedContext(start);
  const result = await insight.run(context, args);
  // An answer of which nothing was read would look like one that found nothing.
  const refused = refusal();
  if (refused !== undefined) throw refused;
  const late = notes();
  const { calendar } = context;
  return {
    ...result,
    filter: { timeZone: calendar.zone.name, ...result.filter },
    truncated: result.truncated || late.length > 0,
    notes: [
      ...result.notes,
      ...late,
      ...describeFuture(result, { calendar, now: context.now() }),
      ...describeNothing(result, calendar),
    ],
  };
};
