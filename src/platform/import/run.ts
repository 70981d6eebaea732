import type { Fault } from "../../contract/errors.ts";
import type { Db, Store } from "../store/port.ts";
import { readBai2 } from "./bank/bai2.ts";
import { readCamt } from "./bank/camt.ts";
import { readEdi820 } from "./bank/edi820.ts";
import type { ReadBankFile, Warn } from "./bank/file.ts";
import { type BankFormat, type Format, isBankFormat } from "./formats.ts";
import type { ImportMap } from "./map.ts";
import { createMapping, type Mapped } from "./mapping.ts";
import { isRow, type Item } from "./rows.ts";
import { openTable } from "./table.ts";
import type { Accepted, Outcome, Target } from "./target.ts";

const BANK_READERS: Record<BankFormat, ReadBankFile> = {
  bai2: readBai2,
  camt: readCamt,
  edi820: readEdi820,
};

export type Counts = {
  read: number;
  written: number;
  unchanged: number;
  /** Dropped by the map's `where`. */
  skipped: number;
  rejected: number;
};

const NOTHING: Counts = { read: 0, written: 0, unchanged: 0, skipped: 0, rejected: 0 };

/** A row that was not imported, with the reason. */
export type Reject = { line: number; field: string; code: string; message: string; row: unknown };

export type ImportNeeds<Values> = {
  store: Store;
  tenantId: string;
  target: Target<Values>;
  format: Format;
  map: ImportMap | undefined;
  /** Opens the file from its start. Bank files are read twice, because they must be valid as a whole. */
  bytes: () => AsyncIterable<Uint8Array>;
  /** Receives the rejects of a batch after the batch is written. */
  reject: (rejects: readonly Reject[]) => Promise<void>;
  progress: (counts: Counts) => void;
  /** Receives the columns that match no field when no map is given. */
  ignored: (columns: readonly string[]) => void;
  /** Receives remarks that are no reason to refuse the file. */
  warn: Warn;
  ended: AbortSignal;
  /** Writes an audit entry with the counts so far; a run that was killed ends with `running`. */
  record: (tx: Db, run: Counts & { status: "running" | "completed" | "stopped" }) => Promise<void>;
};

type ParsedRow<Values> =
  | { as: "accepted"; item: Item; row: Accepted<Values> }
  | { as: "skipped" }
  | { as: "refused"; item: Item; faults: readonly Fault[] };

const parseItem = <Values>(
  target: Target<Values>,
  map: (cells: Record<string, unknown>) => Mapped,
  item: Item,
): ParsedRow<Values> => {
  if (!isRow(item)) return { as: "refused", item, faults: [item.fault] };
  const mapped = map(item.cells);
  if (mapped.as === "skipped") return mapped;
  if (mapped.as === "leftOut") return { as: "skipped" };
  if (mapped.as === "refused") return { as: "refused", item, faults: mapped.faults };
  const { record, sourceKey } = mapped;
  const { value, faults } = target.parse(record);
  if (faults !== undefined) return { as: "refused", item, faults };
  return { as: "accepted", item, row: { values: value, sourceKey } };
};

const toReject = (item: Item, [first, ...others]: readonly Fault[]): Reject => {
  const also = others.map(({ field, message }) => `${field} ${message}`).join("; ");
  const { field = "", code = "", message = "" } = first ?? {};
  return {
    line: item.line,
    field,
    code,
    message: also === "" ? message : `${message}; also ${also}`,
    row: isRow(item) ? item.cells : item.text,
  };
};

/** Counts the rows of a batch; outcomes are those of its accepted rows. */
const addBatch = <Values>(
  before: Counts,
  batch: readonly ParsedRow<Values>[],
  outcomes: readonly Outcome[],
): { counts: Counts; rejects: Reject[] } => {
  const counts = { ...before };
  const rejects: Reject[] = [];
  let next = 0;
  for (const one of batch) {
    counts.read += 1;
    const outcome = one.as === "accepted" ? outcomes[next++] : undefined;
    if (one.as === "skipped") counts.skipped += 1;
    else if (typeof outcome === "string") counts[outcome] += 1;
    else {
      counts.rejected += 1;
      rejects.push(toReject(one.item, one.as === "refused" ? one.faults : (outcome ?? [])));
    }
  }
  return { counts, rejects };
};

/** Writes a batch, with an audit entry in its transaction if it changes something or ends the run. */
const writeBatch = <Values>(
  { store, tenantId, target, record }: ImportNeeds<Values>,
  batch: readonly ParsedRow<Values>[],
  before: Counts,
  isLast: boolean,
): Promise<{ counts: Counts; rejects: Reject[] }> => {
  const rows = batch.flatMap((one) => (one.as === "accepted" ? [one.row] : []));
  return store.transaction(async (tx) => {
    const done = addBatch(before, batch, rows.length === 0 ? [] : await target.write(tx, rows));
    if (isLast || done.counts.written > before.written) {
      await record(tx, { ...done.counts, status: isLast ? "completed" : "running" });
    }
    return done;
  }, tenantId);
};

/** An open file; `columns` is valid after the first items were read. */
type Reading = {
  columns(): readonly string[] | null;
  items(): AsyncIterable<Item[]>;
};

const ignoreWarning: Warn = () => {};

/** Reads a bank file twice: the first pass validates the whole file before any row is written. */
async function* readBankFile(
  format: BankFormat,
  { bytes, warn }: Pick<ImportNeeds<unknown>, "bytes" | "warn">,
) {
  const read = BANK_READERS[format];
  const trial = read(bytes(), ignoreWarning);
  while ((await trial.next()).done !== true);
  yield* read(bytes(), warn);
}

const openFile = <Values>(
  needs: Pick<ImportNeeds<Values>, "format" | "bytes" | "warn" | "target" | "map">,
): Reading => {
  const { format } = needs;
  if (isBankFormat(format))
    return { columns: () => null, items: () => readBankFile(format, needs) };
  return openTable(format, needs.bytes, { fields: needs.target.fields, map: needs.map });
};

const isContinued = (item: Item | undefined): boolean =>
  item !== undefined && isRow(item) && item.continues === true;

/** Yields the items of a file in batches, at least one; larger ones where a payment has more rows. */
async function* groupIntoBatches(
  reading: Reading,
  batchRows: number,
): AsyncGenerator<{ items: Item[]; isLast: boolean }, void, undefined> {
  let waiting: Item[] = [];
  for await (const items of reading.items()) {
    for (const item of items) waiting.push(item);
    // The last rows wait for the end of the file, so that the last batch is known as such.
    while (waiting.length > batchRows) {
      let end = batchRows;
      while (isContinued(waiting[end])) end += 1;
      if (end === waiting.length) break;
      yield { items: waiting.slice(0, end), isLast: false };
      waiting = waiting.slice(end);
    }
  }
  yield { items: waiting, isLast: true };
}

const importBatches = async <Values>(
  needs: ImportNeeds<Values>,
  progress: (counts: Counts) => void,
): Promise<void> => {
  const { target, map, reject, ended } = needs;
  const reading = openFile(needs);
  const { fields, batchRows } = target;
  let counts = NOTHING;
  let mapping: ((cells: Record<string, unknown>) => Mapped) | undefined;
  // The next batch is read and parsed while the store writes the previous one.
  let writing: Promise<void> | undefined;
  const settle = async (batch: readonly ParsedRow<Values>[], isLast: boolean): Promise<void> => {
    const done = await writeBatch(needs, batch, counts, isLast);
    ({ counts } = done);
    progress(counts);
    if (done.rejects.length > 0) await reject(done.rejects);
  };
  try {
    for await (const { items, isLast } of groupIntoBatches(reading, batchRows)) {
      if (mapping === undefined) {
        const columns = reading.columns();
        const unknown = map === undefined ? columns?.filter((name) => !fields.has(name)) : [];
        if (unknown !== undefined && unknown.length > 0) needs.ignored(unknown);
        mapping = createMapping(fields, map, columns);
      }
      const mapRow = mapping;
      const parsed = items.map((item) => parseItem(target, mapRow, item));
      await writing;
      if (ended.aborted && counts.read > 0) {
        throw new Error(
          `The import was stopped after ${counts.read} rows, which stay. Run it again to go on.`,
        );
      }
      writing = settle(parsed, isLast);
      // A failure is thrown where the next batch, or the end, awaits this promise.
      writing.catch(() => {});
    }
  } finally {
    await writing;
  }
};

/** Imports a file in bounded memory; each batch is written in one transaction. */
export const runImport = async <Values>(needs: ImportNeeds<Values>): Promise<Counts> => {
  const { store, tenantId, record, progress } = needs;
  let counts = NOTHING;
  try {
    await importBatches(needs, (sofar) => {
      counts = sofar;
      progress(sofar);
    });
    return counts;
  } catch (error) {
    // A file that is refused as a whole changes nothing and has no entry.
    if (counts.read > 0) {
      await store.transaction((tx) => record(tx, { ...counts, status: "stopped" }), tenantId);
    }
    throw error;
  }
};
