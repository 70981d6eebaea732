import type { z } from "zod";
import type { Reply } from "../client/port.ts";
import { Problem } from "../contract/errors.ts";
import { type Checked, formatFaults } from "../contract/faults.ts";
import type { contract } from "../contract/index.ts";
import type { Calendar } from "../contract/insights/calendar.ts";
import type { CurrencyTotal } from "../contract/insights/result.ts";
import type { CallArguments, ArgsOf, Operation, OutputOf } from "../contract/operation.ts";
import type { Clock } from "../kit/clock.ts";
import { UTC } from "../kit/time-zone.ts";

export type Fields = Record<string, unknown>;

/** An insight's answer. Fields that it has beside these are figures over everything that matched. */
export type InsightResult = {
  /** RFC 3339: the time of the reading, or the day asked for. */
  asOf: string;
  /** The conditions as applied, defaults included. */
  filter: Fields;
  /** Records that matched. */
  rowCount: number;
  /** Not every matching record was read: figures are partial, and `notes` says how far the reading got. */
  truncated: boolean;
  currencyTotals: readonly CurrencyTotal[];
  /** At most as many as the caller asked for, the most important first, without those that earlier answers had. */
  items: readonly Fields[];
  /** The number of items, those beyond `items` included. */
  itemsTotal: number;
  /** Sentences about what limits the answer. */
  notes: readonly string[];
  [figure: string]: unknown;
};

/** The bounds of one reading. */
export type InsightLimits = {
  paymentRows: number;
  disputes: number;
  /** Open documents of one account. */
  documents: number;
  /** Milliseconds from the start of the call. */
  ms: number;
};

export const INSIGHT_LIMITS: InsightLimits = {
  paymentRows: 2_000_000,
  disputes: 200_000,
  documents: 20_000,
  ms: 60_000,
};

/** The platform and the host as one call of an insight sees them. */
export type InsightContext = {
  /**
   * Calls an operation with the caller's credential; the audit log names the insight's tool.
   *
   * @throws {Problem}
   */
  call<O extends Operation>(operation: O, args: ArgsOf<O>): Promise<Reply<O>>;
  /** Ids of the operations beyond the documents that the platform announces. */
  extensions: ReadonlySet<string>;
  now: Clock;
  /** The days of the tenant. */
  calendar: Calendar;
  /** Aborted when the host cancels the call. */
  signal: AbortSignal;
  /** Tells the host in one sentence how far the reading is. */
  progress(message: string): Promise<void>;
  limits: InsightLimits;
  /** The number of items that earlier answers had; the answer has those after them. */
  skip: number;
  /** Whether all items are needed, so that the limit on items does not count. */
  isWhole: boolean;
  /** Reads the beginning of the text of a dispute's file, or says why it has none; absent where files cannot be read. */
  readExcerpt?(file: {
    disputeId: string;
    attachmentId: string;
  }): Promise<{ text: string } | { unreadable: string }>;
  /** The time from which no call is made. */
  endsAt: number;
};

/** A question about receivables with its way of answering it through operations. */
export type Insight = {
  name: string;
  title: string;
  /** Strict; every field has a description. */
  input: z.ZodObject;
  /** The fields of an item. */
  item: z.ZodObject;
  /** The figures that a result has beside the common ones. */
  figures?: z.ZodObject;
  /** Operations without which there is no answer. */
  needs: readonly Operation[];
  /** The budget of an answer in tokens; without it the usual one. */
  tokens?: number;
  /** Gives the only item in ever shorter forms, which say what they leave out; the first that fits is shown. */
  shorten?(item: Fields): Iterable<Fields>;
  /** Gives the items in ever shorter forms, with a sentence about what they leave out; the first in which all fit is shown. */
  shortenItems?(items: readonly Fields[]): Iterable<{ items: Fields[]; note: string }>;
  run(context: InsightContext, args: CallArguments): Promise<InsightResult>;
};

type Definition<I extends z.ZodObject> = Omit<Insight, "input" | "run"> & {
  input: I;
  run(context: InsightContext, args: z.output<I>): Promise<InsightResult>;
};

/** Defines an insight. Its arguments are validated by `input` before `run`. */
export const defineInsight = <I extends z.ZodObject>({ run, ...rest }: Definition<I>): Insight => ({
  ...rest,
  run: (context, args) => run(context, args as z.output<I>),
});

/** Returns the most items of an answer: the limit that was asked for, unless all are needed. */
export const mostItems = ({ isWhole }: Pick<InsightContext, "isWhole">, limit: number): number =>
  isWhole ? Number.MAX_SAFE_INTEGER : limit;

/** Returns parsed arguments. @throws {Problem} invalid_request with every fault */
export const acceptParsed = <T>({ value, faults }: Checked<T>): T => {
  if (faults === undefined) return value;
  throw new Problem("invalid_request", formatFaults(faults), { errors: faults });
};

/** An operation that answers in the form of an insight. */
type Summary =
  | typeof contract.disputes.summary
  | typeof contract.documents.summary
  | typeof contract.payments.summary;

/** Lists the arguments and groupings that the first version of a summary did not have. */
export const listAdded = (
  additions: Operation["additions"],
  args: CallArguments,
): readonly string[] => {
  const groupBy = Array.isArray(args["groupBy"]) ? args["groupBy"] : [];
  return (additions?.query ?? []).filter(
    (name) => args[name] !== undefined || groupBy.includes(name),
  );
};

/** Whether the platform computes a summary with these arguments: some are additions to the first version of it. */
export const canSummarize = (
  { extensions }: Pick<InsightContext, "extensions">,
  { id, additions }: Summary,
  args: CallArguments,
): boolean => {
  if (!extensions.has(id)) return false;
  return (
    listAdded(additions, args).length === 0 || extensions.has(`${id}.${additions?.name ?? ""}`)
  );
};

/** Asks the platform for a whole result, which the operation answers in the form of an insight. */
export const callSummary = async <O extends Summary>(
  { call }: Pick<InsightContext, "call">,
  operation: O,
  args: ArgsOf<O>,
): Promise<OutputOf<O>> => {
  const { output } = await call(operation, args);
  // Platforms that name no time zone count the days of UTC.
  const { filter } = output;
  return { ...output, filter: { ...filter, timeZone: filter["timeZone"] ?? UTC.name } };
};

/**
 * Asks the platform for the part of a whole result that follows earlier answers. Undefined if the platform is of a
 * version that has only the first items.
 */
export const callSummaryPage = async <O extends Summary>(
  context: Pick<InsightContext, "call" | "skip">,
  operation: O,
  args: ArgsOf<O>,
): Promise<OutputOf<O> | undefined> => {
  const { skip } = context;
  if (skip === 0) return callSummary(context, operation, args);
  try {
    return await callSummary(context, operation, { ...args, offset: skip });
  } catch (error) {
    if (error instanceof Problem && error.code === "invalid_request") return undefined;
    throw error;
  }
};
