import { z } from "zod";
import { Problem } from "../../contract/errors.ts";
import { type Clock, SECOND } from "../../kit/clock.ts";
import { isRecord } from "../../kit/json.ts";
import type { CallArguments, Operation } from "../../contract/operation.ts";
import type { Reply } from "../../client/port.ts";
import { createBasket, type Fields, type Shortened, truncateToBudget } from "./budget.ts";
import { malformedResponse } from "./refusal.ts";
import { findRemoved, type Removed } from "./removed.ts";

/** A list in the export API's own form. */
export const isExportList = ({ list }: Operation): boolean =>
  list?.style === "data" || list?.style === "pages" || list?.style === "run";

type Ask = (args: CallArguments) => Promise<Reply>;

/** A position in a list: a page of the platform, an offset in it, and the id of the last record before it. */
export type Position = {
  page: number | string | null;
  offset: number;
  after: string | null;
  /** The moment whose days the filters have in place of relative ones. */
  daysAt?: number;
};

/** A list of a resource, or the text of a file, and a position in it. */
export type Place = { part: string; position: Position };

/** How one reading of a resource begins, and how a later one continues it. */
export type Paging = {
  /** The place of the caller's cursor; null: the beginning of the resource. */
  from: Place | null;
  /** Returns the cursor that continues at a place. */
  seal(place: Place): string;
};

type Chunk = {
  items: Fields[];
  /** The position of this page, if the answer names the run that it belongs to. */
  page?: Position["page"];
  /** The page after this one; undefined where there is none. */
  next: Position["page"] | undefined;
  total: number | null;
};

/** Reads a list of the platform page by page, for each form of paging. */
type Reader = {
  start: Position["page"];
  open(page: Position["page"]): Promise<Chunk>;
  /** The largest number of records that the caller asked for; absent: no limit. */
  most?: number;
  /** The caller named a page, so that no other one is read. */
  single?: boolean;
};

export type Read = {
  items: Fields[];
  total: number | null;
  /** The position of each record of the answer. */
  places: Position[];
  /** The position of the next record; null if this answer has the end of the list. */
  position: Position | null;
  /** Fields of the answer beside the list. */
  beside: Fields;
  /** The only record, if it is too large for any answer. */
  shortened: Shortened | undefined;
  /** The texts of the records that lack characters. */
  removed: Removed[];
};

// The largest cost of the fields beside a list, such as a count of each status.
const SUMMARY_TOKENS = 400;
const CHUNK = 100;
const DEFAULT_PAGE_SIZE = 20;
/** Limits of the pages and of the time that one answer reads; its cursor continues from there. */
const MAX_PAGES = 50;
const MAX_READING_MS = 20 * SECOND;

const endless = () =>
  new Problem("unavailable", "The platform's list does not go on: a page comes again.");

const recordsOf = (value: unknown): Fields[] => {
  if (!Array.isArray(value) || !value.every(isRecord)) throw malformedResponse();
  return value;
};

const number = (value: unknown, otherwise: number): number =>
  typeof value === "number" ? value : otherwise;

const numbered = (
  args: CallArguments,
  ask: Ask,
  [pageName, sizeName]: readonly [string, string],
  chunk: number,
): Reader => {
  const single = pageName in args || sizeName in args;
  const size = number(args[sizeName], single ? DEFAULT_PAGE_SIZE : chunk);
  return {
    start: number(args[pageName], 1),
    single,
    async open(page) {
      const at = number(page, 1);
      const { output, total } = await ask({ ...args, [pageName]: at, [sizeName]: size });
      const items = recordsOf(output);
      // A platform without pages answers the whole list, which may be longer than the page size.
      const more = total === null ? items.length === size : at * size < total;
      const isAll = items.length === 0 || (items.length > size && items.length === total);
      return { items, total, next: more && !isAll ? at + 1 : undefined };
    },
  };
};

const whole = (args: CallArguments, ask: Ask): Reader => ({
  start: 1,
  async open() {
    const { output, total } = await ask(args);
    const items = recordsOf(output);
    return { items, total: total ?? items.length, next: undefined };
  },
});

type Keep = (beside: Fields) => void;

/** Splits an answer of the export API into its records, its pagination and its other fields. */
const parseExported = (output: unknown, keep: Keep) => {
  if (!isRecord(output)) throw malformedResponse();
  const { data, pagination = {}, ...beside } = output;
  if (!isRecord(pagination)) throw malformedResponse();
  keep(beside);
  return { items: recordsOf(data), pagination, beside };
};

const followed = (
  { pageSize, ...args }: Fields,
  ask: Ask,
  { keep, chunk }: { keep: Keep; chunk: number },
): Reader => {
  const most = number(args["limit"] ?? pageSize, Infinity);
  return {
    start: null,
    most,
    async open(page) {
      const cursor = page === null ? {} : { cursor: page };
      const { output } = await ask({ ...args, ...cursor, limit: Math.min(most, chunk) });
      const { items, pagination } = parseExported(output, keep);
      const { hasMore, cursor: next } = pagination;
      if (hasMore !== true) return { items, total: null, next: undefined };
      if (typeof next !== "string") throw malformedResponse();
      return { items, total: null, next };
    },
  };
};

const RunPage = z.tuple([z.string(), z.string().nullable()]);

/** Reads the rows of one run: every request after the first names the run, so that rows of a newer run cannot follow. */
const ofOneRun = (
  args: CallArguments,
  ask: Ask,
  { keep, chunk }: { keep: Keep; chunk: number },
): Reader => {
  let named: Fields = {};
  const inner = followed(args, (page) => ask({ ...page, ...named }), {
    chunk,
    keep(beside) {
      const { runId } = beside;
      if (typeof runId !== "string") throw malformedResponse();
      named = { runId };
      keep(beside);
    },
  });
  const pageOf = (cursor: unknown): string => JSON.stringify([named["runId"], cursor]);
  return {
    ...inner,
    async open(page) {
      let cursor: string | null = null;
      if (typeof page === "string") {
        const [runId, at] = RunPage.parse(JSON.parse(page));
        named = { runId };
        cursor = at;
      }
      const { items, next, total } = await inner.open(cursor);
      return {
        items,
        total,
        page: pageOf(cursor),
        next: next === undefined ? undefined : pageOf(next),
      };
    },
  };
};

/** Takes the records from one field of the answer. */
const under =
  (name: string, ask: Ask): Ask =>
  async (args) => {
    const reply = await ask(args);
    return { ...reply, output: isRecord(reply.output) ? reply.output[name] : undefined };
  };

/** Takes the applications from the answer and passes on their count per status. */
const applicationsOf =
  (ask: Ask, keep: Keep): Ask =>
  async (args) => {
    const reply = await ask(args);
    if (!isRecord(reply.output)) throw malformedResponse();
    const { applications, applicationStatusSummary } = reply.output;
    keep({ applicationStatusSummary });
    return { ...reply, output: applications };
  };

const PAGE_NAMES = [
  ["Page", "PageSize"],
  ["page", "pageSize"],
] as const;

const readerOf = (
  operation: Operation,
  args: CallArguments,
  ask: Ask,
  keep: Keep,
  chunk = CHUNK,
): Reader => {
  const style = operation.list?.style;
  if (style === "run") return ofOneRun(args, ask, { keep, chunk });
  if (style === "pages") return followed(args, ask, { keep, chunk });
  if (style === "attachments" || style === "data") return whole(args, under(style, ask));
  const known = { ...operation.query.shape, ...operation.body?.shape };
  const names = PAGE_NAMES.find(([page]) => page in known);
  return names === undefined ? whole(args, ask) : numbered(args, ask, names, chunk);
};

const PAGE_ARGUMENTS = new Set<string>([...PAGE_NAMES.flat(), "limit"]);

/** The longest pages that are asked for: parsing one takes less than 50 ms. */
const LARGE_CHUNKS = [500, 200];

/** Returns the longest page that an operation gives. */
const largestChunk = ({ query, body }: Operation): number => {
  const shape: Record<string, z.ZodType> = { ...query.shape, ...body?.shape };
  const size = shape["PageSize"] ?? shape["limit"] ?? shape["pageSize"];
  return LARGE_CHUNKS.find((count) => size?.safeParse(count).success) ?? CHUNK;
};

/** Reads all pages of a list, also where the arguments name a page. Records that come twice are left out. */
export async function* readAllRows(
  operation: Operation,
  args: CallArguments,
  ask: Ask,
): AsyncGenerator<Fields[]> {
  const filters = Object.fromEntries(
    Object.entries(args).filter(([name]) => !PAGE_ARGUMENTS.has(name)),
  );
  const { style, anonymous } = operation.list ?? {};
  const inner = style === "applications" ? under("applications", ask) : ask;
  const reader = readerOf(operation, filters, inner, () => {}, largestChunk(operation));
  const nameOf = anonymous === true ? () => null : idOf;
  const progress = createProgress(nameOf);
  const known = new Set<string>();
  const isNew = (item: Fields): boolean => {
    const id = nameOf(item);
    if (id === null) return true;
    const { size } = known;
    return known.add(id).size > size;
  };
  for (let page: Position["page"] | undefined = reader.start; page !== undefined;) {
    const chunk: Chunk = await reader.open(page);
    progress(chunk.page ?? page, chunk);
    yield chunk.items.filter(isNew);
    page = chunk.next;
  }
}

/** Returns the id of a record, which is the first field of the contract's records. */
const idOf = (item: Fields | undefined): string | null => {
  const id = Object.values(item ?? {})[0];
  return typeof id === "string" ? id : null;
};

// Records that were created or deleted meanwhile move the others, so the position is found by the last record's id.
const startOf = (items: Fields[], { offset, after }: Position): number => {
  const last = after === null ? -1 : items.findIndex((item) => idOf(item) === after);
  return last === -1 ? offset : last + 1;
};

type Bounds = {
  from: Position | null;
  budget: number;
  now: Clock;
  /** Returns the form of a record in the answer. */
  shape?: (record: Fields) => Fields;
};

/** Throws if a page repeats, by its position or by its records, because reading would never end. */
const createProgress = (nameOf: (item: Fields | undefined) => string | null) => {
  const pages = new Set<Position["page"]>();
  let last = "";
  return (page: Position["page"], { items, next }: Chunk): void => {
    pages.add(page);
    const [first, final] = [nameOf(items[0]), nameOf(items.at(-1))];
    const met = first === null ? "" : JSON.stringify([first, final, items.length]);
    if ((met !== "" && met === last) || (next !== undefined && pages.has(next))) throw endless();
    last = met;
  };
};

const prepareReading = (operation: Operation, args: CallArguments, ask: Ask, budget: number) => {
  let beside: Fields = {};
  const summary = Math.min(SUMMARY_TOKENS, Math.floor(budget / 2));
  const keep = (fields: Fields): void => {
    beside = truncateToBudget(fields, summary).record;
  };
  const { style, anonymous } = operation.list ?? {};
  const inner = style === "applications" ? applicationsOf(ask, keep) : ask;
  const reader = readerOf(operation, args, inner, keep);
  const nameOf = anonymous === true ? () => null : idOf;
  const hasBeside = style === "applications" || style === "pages" || style === "run";
  const basket = createBasket(hasBeside ? budget - summary : budget);
  const places: Position[] = [];
  const result = (position: Position | null, total: number | null): Read => ({
    items: basket.items,
    total,
    places,
    position,
    beside,
    shortened: basket.shortened,
    removed: findRemoved(basket.sources, basket.items),
  });
  return { reader, nameOf, basket, places, result };
};

/** Reads a list from a position until the list ends or the budget, the caller's limit or a limit of reading is reached. */
export const readList = async (
  operation: Operation,
  args: CallArguments,
  ask: Ask,
  { from, budget, now, shape = (record) => record }: Bounds,
): Promise<Read> => {
  const { reader, nameOf, basket, places, result } = prepareReading(operation, args, ask, budget);
  const { most = Infinity, single = false } = reader;
  const progress = createProgress(nameOf);
  const until = now() + MAX_READING_MS;
  let at: Position = from ?? { page: reader.start, offset: 0, after: null };
  for (let read = 1; ; read++) {
    const chunk = await reader.open(at.page);
    const { items, next, total, page = at.page } = chunk;
    progress(page, chunk);
    const first = startOf(items, at);
    for (const [index, item] of items.entries()) {
      if (index < first) continue;
      const here = { page, offset: index, after: nameOf(items[index - 1]) ?? at.after };
      if (basket.items.length >= most) return result(here, total);
      if (!basket.add(shape(item))) return result(here, total);
      places.push(here);
    }
    if (next === undefined) return result(null, total);
    at = { page: next, offset: 0, after: nameOf(items.at(-1)) ?? at.after };
    if (single || basket.items.length >= most) return result(at, total);
    if (read >= MAX_PAGES || now() >= until) return result(at, total);
  }
};
