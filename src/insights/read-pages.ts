import { setImmediate } from "node:timers/promises";
import { Problem } from "../contract/errors.ts";
import { SECOND } from "../kit/clock.ts";
import type { InsightContext } from "./insight.ts";

export type Page<Row> = {
  rows: readonly Row[];
  /** Loads the page after this one; undefined at the end. */
  next: (() => Promise<Page<Row>>) | undefined;
};

export type Reading = {
  rowCount: number;
  /** Why the reading ended before the last row; undefined if it did not. */
  stopped: string | undefined;
};

type Source<Row> = {
  first: () => Promise<Page<Row>>;
  maxRows: number;
  /** The rows in the plural, for the host: `payment rows`. */
  noun: string;
  /** Receives each page in order. It must not hold the event loop for long. */
  take: (rows: readonly Row[]) => void | Promise<void>;
};

/** Whether the platform refuses only for now, so that the pages before are worth an answer. */
const isTemporary = (error: unknown): error is Problem =>
  error instanceof Problem && (error.code === "rate_limited" || error.code === "unavailable");

const formatCount = (count: number): string => count.toLocaleString("en-US");

/**
 * Reads pages within the limits and requests each page while the one before is taken.
 *
 * @throws {Problem} the platform's refusal of the first page, or of any page if it is not temporary
 */
export const readPages = async <Row>(
  { now, signal, progress, limits, endsAt }: InsightContext,
  { first, maxRows, noun, take }: Source<Row>,
): Promise<Reading> => {
  let rowCount = 0;
  const stop = (why: string): Reading => ({
    rowCount,
    stopped: `Only the first ${formatCount(rowCount)} ${noun} were read: ${why}. Narrow the filters for complete figures.`,
  });
  let pending: Promise<Page<Row>> | undefined = first();
  try {
    while (pending !== undefined) {
      const { rows, next }: Page<Row> = await pending;
      rowCount += rows.length;
      const isFull = rowCount >= maxRows;
      const isLate = now() >= endsAt;
      pending = isFull || isLate ? undefined : next?.();
      // A failure is reported where the page is awaited.
      pending?.catch(() => {});
      // Lets requests take their turn after the page was parsed.
      await setImmediate();
      await take(rows);
      if (next === undefined) break;
      if (isFull) return stop(`an answer reads at most ${formatCount(maxRows)}`);
      if (isLate) return stop(`reading took ${limits.ms / SECOND} seconds`);
      await progress(`Read ${formatCount(rowCount)} ${noun}.`);
    }
  } catch (error) {
    if (rowCount === 0 || signal.aborted || !isTemporary(error)) throw error;
    return stop(`then the platform refused (${error.message.replace(/\.$/, "")})`);
  }
  return { rowCount, stopped: undefined };
};

/** An answer of a list that has a cursor for the page after it. */
export type Listed<Row> = {
  output: { data: readonly Row[]; pagination: { cursor: string | null } };
};

/** Reads a list whose answers have a cursor for the page after them, as {@link readPages} does. */
export const readByCursor = <Row>(
  context: InsightContext,
  load: (cursor: string | undefined) => Promise<Listed<Row>>,
  rest: Omit<Source<Row>, "first">,
): Promise<Reading> => {
  const loadPage = async (cursor?: string): Promise<Page<Row>> => {
    const { data, pagination } = (await load(cursor)).output;
    const after = pagination.cursor;
    // A cursor that repeats itself would be read for ever.
    const isEnd = after === null || after === cursor;
    return { rows: data, next: isEnd ? undefined : () => loadPage(after) };
  };
  return readPages(context, { ...rest, first: () => loadPage() });
};
