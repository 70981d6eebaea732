import { type Fault, Problem } from "../../contract/errors.ts";
import type { Store } from "../store/port.ts";
import type { LeftOut } from "./bank/entry.ts";
import type { Warn } from "./bank/file.ts";
import { isLeftOut, isPayment, type Item, type PaymentItem } from "./items.ts";
import { createLocator } from "./columns.ts";
import { createJournal, type RecordImport } from "./journal.ts";
import type { ImportMap } from "./map.ts";
import { createMapping, findSummedField, type Mapped } from "./mapping.ts";
import { isBankFormat } from "./formats.ts";
import { createOccurrences } from "./occurrences.ts";
import { type FileNeeds, openFile } from "./reading.ts";
import { type Counts, createTotals, NO_COUNTS, type Report, type RunningTotals } from "./report.ts";
import { isRow, type Row, type Unreadable } from "./rows.ts";
import { createSpool } from "./spool.ts";
import { createSums, type Sums } from "./sums.ts";
import { createSurvey, type Survey } from "./survey.ts";
import type { Accepted, Outcome, Target } from "./target.ts";

/** A row that was not imported, with the reason. */
export type Reject = { line: number; field: string; code: string; message: string; row: unknown };

export type ImportNeeds<Values> = FileNeeds & {
  store: Pick<Store, "transaction">;
  tenantId: string;
  importId: string;
  /** The number of changes that the import has made in files before this one. */
  changesBefore: number;
  target: Target<Values>;
  map: ImportMap | undefined;
  /** Receives the rejects of a batch after the batch is written. */
  reject: (rejects: readonly Reject[]) => Promise<void>;
  /** Receives the e-mail addresses of new users after their batch is written. */
  invite?: ((emails: readonly string[]) => Promise<void>) | undefined;
  progress: (counts: Counts) => void;
  /** Receives the columns that match no field when no map is given. */
  ignored: (columns: readonly string[]) => void;
  /** Receives remarks that are no reason to refuse the file. */
  warn: Warn;
  ended: AbortSignal;
  /** Stores the import's record and an audit entry with the counts so far; a run that was killed ends with `running`. */
  record: RecordImport;
};

type Parsed<Values> =
  | { as: "accepted"; item: Row | PaymentItem; row: Accepted<Values> }
  | { as: "skipped" }
  | { as: "leftOut"; entry: LeftOut }
  | { as: "refused"; item: Row | Unreadable | PaymentItem; faults: readonly Fault[] };

type MapRow = (cells: Record<string, unknown>) => Mapped;

const parseItem = <Values>(target: Target<Values>, map: MapRow, item: Item): Parsed<Values> => {
  const { line } = item;
  if (isLeftOut(item)) return { as: "leftOut", entry: item };
  if (isPayment(item)) {
    const { value, faults = [] } = target.parsePayment?.(item) ?? {};
    if (value === undefined) return { as: "refused", item, faults };
    return { as: "accepted", item, row: { line, values: value, sourceKey: undefined } };
  }
  if (!isRow(item)) return { as: "refused", item, faults: [item.fault] };
  const mapped = map(item.cells);
  if (mapped.as === "skipped") return mapped;
  if (mapped.as === "leftOut") {
    const { as: _, ...leftOut } = mapped;
    return { as: "leftOut", entry: { line, leftOut } };
  }
  if (mapped.as === "refused") return { as: "refused", item, faults: mapped.faults };
  const { record, sourceKey } = mapped;
  const { value, faults } = target.parse(record);
  if (faults !== undefined) return { as: "refused", item, faults };
  return { as: "accepted", item, row: { line, values: value, sourceKey } };
};

const showItem = (item: Row | Unreadable | PaymentItem): unknown => {
  if (isPayment(item)) {
    const { amount, currency, day } = item.entry;
    return { amount, currency, day, ...item.payment.cells };
  }
  return isRow(item) ? item.cells : item.text;
};

const toReject = (
  item: Row | Unreadable | PaymentItem,
  faults: readonly Fault[],
  locate: Locate,
): Reject => {
  // A bank file has no columns; its messages name the value.
  const [first, ...others] = isPayment(item)
    ? faults
    : faults.map((fault) => locate(fault, "cells" in item ? item.cells : {}));
  const also = others.map(({ field, message }) => `${field} ${message}`).join("; ");
  const { field = "", code = "", message = "" } = first ?? {};
  return {
    line: item.line,
    field,
    code,
    message: also === "" ? message : `${message}; also ${also}`,
    row: showItem(item),
  };
};

type Judge = Survey["judge"];

/** Refuses a row that another row of the file contradicts. */
const checkContradiction = <Values>(
  target: Target<Values>,
  judge: Judge,
  parsed: Parsed<Values>,
): Parsed<Values> => {
  if (parsed.as !== "accepted") return parsed;
  const identity = target.identify?.(parsed.row);
  const fault = identity === undefined ? undefined : judge(identity, parsed.row.line);
  return fault === undefined ? parsed : { as: "refused", item: parsed.item, faults: [fault] };
};

/** One pass over a file. A trial reads it before anything is written, and says nothing. */
type Pass = {
  isTrial: boolean;
  sums?: Sums;
  /** Receives the function that names column and value in faults, once the columns are known. */
  located?: (locate: Locate) => void;
};

type Locate = ReturnType<typeof createLocator>;

/** Yields the items of a file, parsed by the target. */
async function* parseFile<Values>(
  needs: ImportNeeds<Values>,
  { isTrial, sums, located }: Pass,
): AsyncGenerator<Parsed<Values>[], void, undefined> {
  const { target, map } = needs;
  const { fields } = target;
  const reading = openFile(needs, fields, isTrial ? () => {} : needs.warn);
  const met = createOccurrences();
  let mapRow: MapRow | undefined;
  const begin = (): MapRow => {
    const columns = reading.columns();
    const unknown = map === undefined ? columns?.filter((name) => !fields.has(name)) : [];
    if (!isTrial && unknown !== undefined && unknown.length > 0) needs.ignored(unknown);
    located?.(createLocator(fields, map, columns));
    return createMapping(fields, map, columns, { ...(sums && { sums }), count: met.count });
  };
  try {
    for await (const items of reading.items()) {
      // The columns are known with the first items.
      if (items.length === 0) continue;
      const byRow = (mapRow ??= begin());
      yield items.map((item) => parseItem(target, byRow, item));
    }
  } finally {
    met.close();
  }
  if (mapRow !== undefined || isBankFormat(needs.format) || needs.format === "ndjson") return;
  // A table without rows must have the columns, too.
  if (reading.columns() === null) {
    const message = "The file is empty: it has not even a header. Nothing was changed.";
    throw new Problem("invalid_request", message);
  }
  begin();
}

/** Adds up the amounts of the rows of each payment, where the map says that they are amounts of lines. */
const sumAmounts = async <Values>(needs: ImportNeeds<Values>): Promise<Sums | undefined> => {
  const { target, map } = needs;
  const summed = findSummedField(target.fields, map);
  if (summed === undefined) return undefined;
  const sums = createSums();
  const reading = openFile(needs, target.fields, () => {});
  let mapRow: MapRow | undefined;
  for await (const items of reading.items()) {
    if (items.length > 0) mapRow ??= createMapping(target.fields, map, reading.columns());
    for (const item of items) {
      const mapped = "cells" in item ? mapRow?.(item.cells) : undefined;
      if (mapped?.as !== "record") continue;
      const { [summed.key]: key, [summed.amount]: amount } = mapped.record;
      if (typeof key === "string") sums.add(key, amount);
    }
  }
  return sums;
};

/**
 * Reads the file once before anything is written: a malformed file is refused as a whole, and rows that contradict each
 * other are found.
 */
const surveyFile = async <Values>(
  needs: ImportNeeds<Values>,
  pass: Omit<Pass, "isTrial">,
): Promise<Judge> => {
  const { target } = needs;
  const survey = createSurvey();
  try {
    if (needs.spool !== undefined) {
      // Equal entries of a bank file are different payments, so that none contradicts another.
      for await (const _ of openFile(needs, target.fields, () => {}).items());
      return () => undefined;
    }
    for await (const some of parseFile(needs, { ...pass, isTrial: true })) {
      for (const one of some) {
        if (one.as !== "accepted") continue;
        const identity = target.identify?.(one.row);
        if (identity !== undefined) survey.add(identity, one.row.line);
      }
    }
    return survey.judge;
  } finally {
    survey.close();
  }
};

const isContinued = <Values>(
  { isContinued: belong }: Target<Values>,
  before: Parsed<Values> | undefined,
  next: Parsed<Values> | undefined,
): boolean =>
  before?.as === "accepted" &&
  next?.as === "accepted" &&
  belong?.(before.row.values, next.row.values) === true;

type Group<Values> = { batch: Parsed<Values>[]; isLast: boolean };

/** Yields parsed items in batches, at least one; larger ones where a payment has more rows. */
async function* groupIntoBatches<Values>(
  target: Target<Values>,
  parsed: AsyncIterable<Parsed<Values>[]>,
): AsyncGenerator<Group<Values>, void, undefined> {
  const { batchRows } = target;
  let waiting: Parsed<Values>[] = [];
  for await (const items of parsed) {
    for (const item of items) waiting.push(item);
    // The last items wait for the end of the file, so that the last batch is known as such.
    while (waiting.length > batchRows) {
      let end = batchRows;
      while (isContinued(target, waiting[end - 1], waiting[end])) end += 1;
      if (end === waiting.length) break;
      yield { batch: waiting.slice(0, end), isLast: false };
      waiting = waiting.slice(end);
    }
  }
  yield { batch: waiting, isLast: true };
}

/** The counts after a batch, and the amounts of its payments. */
type Done<Values> = {
  counts: Counts;
  rejects: Reject[];
  leftOut: LeftOut[];
  paid: { values: Values; outcome: "written" | "unchanged" }[];
};

/** Counts the items of a batch; outcomes are those of its accepted rows. */
const countBatch = <Values>(
  target: Target<Values>,
  { counts: before, locate }: Pick<State, "counts" | "locate">,
  batch: readonly Parsed<Values>[],
  outcomes: readonly Outcome[],
): Done<Values> => {
  const counts = { ...before };
  const done: Done<Values> = { counts, rejects: [], leftOut: [], paid: [] };
  let next = 0;
  for (const one of batch) {
    const rows = one.as === "accepted" ? (target.countRows?.(one.row.values) ?? 1) : 1;
    counts.read += rows;
    if (one.as === "skipped") counts.skipped += 1;
    else if (one.as === "leftOut") {
      counts.leftOut += 1;
      done.leftOut.push(one.entry);
    } else if (one.as === "refused") {
      counts.rejected += 1;
      done.rejects.push(toReject(one.item, one.faults, locate));
    } else {
      const outcome = outcomes[next++] ?? [];
      if (typeof outcome === "string") {
        counts[outcome] += rows;
        done.paid.push({ values: one.row.values, outcome });
      } else {
        counts.rejected += rows;
        done.rejects.push(toReject(one.item, outcome, locate));
      }
    }
  }
  return done;
};

type State = { counts: Counts; totals: RunningTotals; changes: number; locate: Locate };

/** Writes a batch, with its journal, and with a record of the import if it changes something or ends the run. */
const writeBatch = async <Values>(
  needs: ImportNeeds<Values>,
  state: State,
  { batch, isLast }: Group<Values>,
): Promise<Reject[]> => {
  const { store, tenantId, target, record, importId } = needs;
  const rows = batch.flatMap((one) => (one.as === "accepted" ? [one.row] : []));
  const { done, journal } = await store.transaction(async (tx) => {
    const journal = createJournal({ tenantId, importId, number: state.changes });
    const outcomes = rows.length === 0 ? [] : await target.write(tx, rows, journal);
    await journal.save(tx);
    const done = countBatch(target, state, batch, outcomes);
    done.counts.doubtful += journal.doubts.length - journal.settled.length;
    if (isLast || done.counts.written > state.counts.written) {
      await record(tx, { ...done.counts, status: isLast ? "completed" : "running" });
    }
    return { done, journal };
  }, tenantId);
  const { totals } = state;
  for (const doubt of journal.doubts) totals.addDoubt(doubt);
  for (const doubt of journal.settled) totals.removeDoubt(doubt);
  for (const leftOut of done.leftOut) totals.addLeftOut(leftOut);
  for (const { values, outcome } of done.paid) {
    const money = target.getMoney?.(values);
    if (money !== undefined) totals.addPayment(money, outcome);
  }
  if (journal.invited.length > 0) await needs.invite?.(journal.invited);
  state.counts = done.counts;
  state.changes = journal.number();
  return done.rejects;
};

const importBatches = async <Values>(
  needs: ImportNeeds<Values>,
  state: State,
  { judge, pass }: { judge: Judge; pass: Omit<Pass, "isTrial"> },
): Promise<void> => {
  const { target, reject, ended, progress } = needs;
  // The next batch is read and parsed while the store writes the previous one.
  let writing: Promise<void> | undefined;
  const settle = async (group: Group<Values>): Promise<void> => {
    const rejects = await writeBatch(needs, state, group);
    progress(state.counts);
    if (rejects.length > 0) await reject(rejects);
  };
  try {
    for await (const group of groupIntoBatches(
      target,
      parseFile(needs, { ...pass, located: (locate) => (state.locate = locate), isTrial: false }),
    )) {
      const batch = group.batch.map((one) => checkContradiction(target, judge, one));
      await writing;
      const { read } = state.counts;
      if (ended.aborted && read > 0) {
        throw new Error(
          `The import was stopped after ${read} rows, which stay. Run it again to go on.`,
        );
      }
      writing = settle({ ...group, batch });
      // A failure is thrown where the next batch, or the end, awaits this promise.
      writing.catch(() => {});
    }
  } finally {
    await writing;
  }
};

/**
 * Imports a file in bounded memory; each batch is written in one transaction. A table is read twice; the entries of a
 * bank file are kept in a temporary file meanwhile.
 *
 * @throws {Problem} invalid_request if the file is refused as a whole
 */
export const runImport = async <Values>(needs: ImportNeeds<Values>): Promise<Report> => {
  const { store, tenantId, record, format } = needs;
  const spool = isBankFormat(format) ? createSpool() : undefined;
  const sums = await sumAmounts(needs);
  const pass = sums === undefined ? {} : { sums };
  const totals = createTotals();
  const state: State = {
    counts: NO_COUNTS,
    totals,
    changes: needs.changesBefore,
    locate: (fault) => fault,
  };
  try {
    const judge = await surveyFile({ ...needs, spool }, pass);
    await importBatches({ ...needs, spool }, state, { judge, pass });
    return {
      ...state.counts,
      totals: totals.totals(),
      doubts: totals.doubts(),
      entriesLeftOut: totals.leftOut(),
      changes: state.changes,
    };
  } catch (error) {
    // A file that is refused as a whole changes nothing and has no entry.
    if (state.counts.read > 0) {
      await store.transaction((tx) => record(tx, { ...state.counts, status: "stopped" }), tenantId);
    }
    throw error;
  } finally {
    totals.close();
    sums?.close();
    spool?.close();
  }
};
