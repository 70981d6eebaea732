import { contract } from "../contract/index.ts";
import { CHANGE_ACTIONS, type RecordedChange } from "../contract/insights/changes.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { formatTimestamp } from "../kit/clock.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import { mapConcurrent } from "../kit/map-concurrent.ts";
import { readEntries, readUntil } from "./audit-entries.ts";
import type { InsightContext } from "./insight.ts";
import { type Page, readPages } from "./read-pages.ts";
import { attemptPart } from "./read-part.ts";
import { readDisputes } from "./read-disputes.ts";

const { disputes, audit_logs } = contract;

/** The first and the last moment of an answer. */
export type Span = { from: number; to: number };

const PAGE_ROWS = 1000;
/** Pages of recorded changes; in the audit log, of each action. */
const MOST_PAGES = 50;
const MOST_PAGES_PER_ACTION = 10;
const CONCURRENT = 4;
const FAILED = 300;

export type Recorded = {
  changes: RecordedChange[];
  /** Why changes are not recorded for this caller. */
  refusal?: string | undefined;
  notes: string[];
  isCut: boolean;
};

type Action = (typeof CHANGE_ACTIONS)[number];

type Changes = { changes: RecordedChange[]; isCut: boolean };

const readExtension = async (
  { call }: InsightContext,
  { from, to }: Span,
  actions?: Action[],
): Promise<Changes> => {
  const args = { since: formatTimestamp(from), until: formatTimestamp(to), actions };
  const load = (cursor: string | undefined) => call(disputes.changes, { ...args, cursor });
  const { rows, isCut } = await readUntil(load, MOST_PAGES);
  return { changes: rows, isCut };
};

const readAction = async (
  context: InsightContext,
  { from, to }: Span,
  action: string,
): Promise<Changes> => {
  const args = { action, from: formatTimestamp(from), to: formatTimestamp(to) };
  const { rows, isCut } = await readEntries(context, args, MOST_PAGES_PER_ACTION);
  const done = rows.filter(({ statusCode }) => statusCode < FAILED);
  const changes = done.map(({ timestamp, metadata }) => ({ action, timestamp, metadata }));
  return { changes, isCut };
};

const readLog = async (
  context: InsightContext,
  span: Span,
  actions: readonly Action[] = CHANGE_ACTIONS,
) => {
  const all: RecordedChange[] = [];
  let isCut = false;
  const read = (action: string) => readAction(context, span, action);
  for await (const one of mapConcurrent(actions, CONCURRENT, read)) {
    all.push(...one.changes);
    isCut ||= one.isCut;
  }
  return { changes: all, isCut };
};

const CUT = "Too many changes to read them all: take a later since or an earlier until.";
const BY_IMPORT =
  "Documents, notes and files of imports are not seen, because the audit log does not name them.";

/** Reopenings after the span tell when a dispute had ended before. */
const LATER: Action[] = ["dispute.reopened"];

type ReadSpan = (context: InsightContext, span: Span, actions?: Action[]) => Promise<Changes>;

/** Reads the changes of a span, and the reopenings since. */
const readWithLater = async (context: InsightContext, span: Span, read: ReadSpan) => {
  const within = await read(context, span);
  const now = context.now();
  if (span.to >= now) return within;
  const later = await read(context, { from: span.to + 1, to: now }, LATER);
  return {
    changes: [...within.changes, ...later.changes],
    isCut: within.isCut || later.isCut,
  };
};

/** Reads what happened to disputes and documents: where the platform tells it as such, else from the audit log. */
export const readRecorded = async (context: InsightContext, span: Span): Promise<Recorded> => {
  if (context.extensions.has(disputes.changes.id)) {
    const part = await attemptPart(context, disputes.changes, () =>
      readWithLater(context, span, readExtension),
    );
    if (part.refused === undefined) {
      return { ...part.value, notes: part.value.isCut ? [CUT] : [] };
    }
  }
  const part = await attemptPart(context, audit_logs.list, () =>
    readWithLater(context, span, readLog),
  );
  if (part.refused !== undefined) {
    return { changes: [], refusal: part.refused.reason, notes: [], isCut: false };
  }
  return { ...part.value, notes: [BY_IMPORT, ...(part.value.isCut ? [CUT] : [])] };
};

/** Reads disputes, the last changed first, back to a moment. */
const readChangedSince = (
  context: InsightContext,
  from: number,
  take: (page: readonly Dispute[]) => Promise<void>,
) => {
  const load = async (page: number): Promise<Page<Dispute>> => {
    const args = { Sort: "-UpdateDate", Page: page, PageSize: PAGE_ROWS };
    const { output } = await context.call(disputes.list, args);
    const rows = output.filter(({ updateDate }) => Date.parse(updateDate) >= from);
    // A page with an earlier change is the last one that matters.
    const isEnd = rows.length < output.length || output.length < PAGE_ROWS;
    return { rows, next: isEnd ? undefined : () => load(page + 1) };
  };
  const { disputes: maxRows } = context.limits;
  return readPages(context, { first: () => load(1), maxRows, noun: "disputes", take });
};

const OPEN = 0;

/** Reads the disputes that changed since a moment, and the open ones where documents and payments are to be judged. */
export const readDisputesSince = async (
  context: InsightContext,
  from: number,
  withOpen: boolean,
): Promise<{ known: Map<string, Dispute>; notes: string[] }> => {
  const known = new Map<string, Dispute>();
  const take = (page: readonly Dispute[]): Promise<void> =>
    forEachInTurns(page, (dispute) => void known.set(dispute.disputeId, dispute));
  const changed = await readChangedSince(context, from, take);
  const open = withOpen ? await readDisputes(context, { Status: [OPEN] }, take) : undefined;
  const notes = [changed.stopped, open?.stopped].filter((note) => note !== undefined);
  return { known, notes };
};

/** Reads further disputes by their ids; those that were deleted are left out. */
export const addDisputes = async (
  { call }: InsightContext,
  known: Map<string, Dispute>,
  ids: Iterable<string>,
): Promise<void> => {
  const unknown = new Set<string>();
  await forEachInTurns(ids, (id) => {
    if (!known.has(id)) unknown.add(id);
  });
  const missing = [...unknown];
  for (let from = 0; from < missing.length; from += PAGE_ROWS) {
    const disputeIds = missing.slice(from, from + PAGE_ROWS);
    const { output } = await call(disputes.list_by_ids, { disputeIds });
    for (const dispute of output) known.set(dispute.disputeId, dispute);
  }
};
