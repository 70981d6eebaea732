import type { Fault } from "../../contract/errors.ts";
import type { Db, Store } from "../store/port.ts";
import { readBai2 } from "./bank/bai2.ts";
import { readCamt } from "./bank/camt.ts";
import { readEdi820 } from "./bank/edi820.ts";
import type { ReadBankFile, Warn } from "./bank/file.ts";
import { createCsvReader } from "./csv.ts";
import { type BankFormat, type Format, isBankFormat } from "./formats.ts";
import { readLines } from "./lines.ts";
import type { ImportMap } from "./map.ts";
import { createMapping, type Mapped } from "./mapping.ts";
import { createNdjsonReader } from "./ndjson.ts";
import { isRow, type Item, type Reader } from "./rows.ts";
import type { Accepted, Target } from "./target.ts";

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
  /** Writes the audit entry of the run, in a transaction after its last batch. */
  record: (tx: Db, run: Counts & { status: "completed" | "stopped" }) => Promise<void>;
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

/** Writes a batch and returns its rejects in line order. */
const writeBatch = async <Values>(
  { store, tenantId, target }: ImportNeeds<Values>,
  batch: readonly ParsedRow<Values>[],
  counts: Counts,
): Promise<Reject[]> => {
  const accepted = batch.filter((one) => one.as === "accepted");
  const outcomes =
    accepted.length === 0
      ? []
      : await store.transaction(
          (tx) =>
            target.write(
              tx,
              accepted.map(({ row }) => row),
            ),
          tenantId,
        );
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
  return rejects;
};

/** An open file; `columns` is valid after the first items were read. */
type Reading = {
  columns(): readonly string[] | null;
  items(): AsyncIterable<Item[]>;
};

async function* readText(reader: Reader, bytes: AsyncIterable<Uint8Array>) {
  for await (const lines of readLines(bytes)) yield reader.push(lines);
  yield reader.end();
}

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

const openFile = (needs: Pick<ImportNeeds<unknown>, "format" | "bytes" | "warn">): Reading => {
  const { format } = needs;
  if (isBankFormat(format))
    return { columns: () => null, items: () => readBankFile(format, needs) };
  const reader = format === "csv" ? createCsvReader() : createNdjsonReader();
  return {
    columns: () => reader.columns() ?? null,
    items: () => readText(reader, needs.bytes()),
  };
};

/** Yields the items of a file in batches. */
async function* groupIntoBatches(
  reading: Reading,
  batchRows: number,
): AsyncGenerator<Item[], void, undefined> {
  let waiting: Item[] = [];
  for await (const items of reading.items()) {
    for (const item of items) waiting.push(item);
    while (waiting.length >= batchRows) {
      yield waiting.slice(0, batchRows);
      waiting = waiting.slice(batchRows);
    }
  }
  if (waiting.length > 0) yield waiting;
}

const importBatches = async <Values>(needs: ImportNeeds<Values>, counts: Counts): Promise<void> => {
  const { target, map, reject, progress, ended } = needs;
  const reading = openFile(needs);
  const { fields, batchRows } = target;
  let mapping: ((cells: Record<string, unknown>) => Mapped) | undefined;
  // The next batch is read and parsed while the store writes the previous one.
  let writing: Promise<void> | undefined;
  const settle = async (batch: readonly ParsedRow<Values>[]): Promise<void> => {
    const rejects = await writeBatch(needs, batch, counts);
    if (rejects.length > 0) await reject(rejects);
    progress(counts);
  };
  try {
    for await (const items of groupIntoBatches(reading, batchRows)) {
      if (mapping === undefined) {
        const columns = reading.columns();
        const unknown = map === undefined ? columns?.filter((name) => !fields.has(name)) : [];
        if (unknown !== undefined && unknown.length > 0) needs.ignored(unknown);
        mapping = createMapping(fields, map, columns);
      }
      const mapRow = mapping;
      const parsed = items.map((item) => parseItem(target, mapRow, item));
      await writing;
      if (ended.aborted && counts.read > 0) break;
      writing = settle(parsed);
      // A failure is thrown where the next batch, or the end, awaits this promise.
      writing.catch(() => {});
    }
  } finally {
    await writing;
  }
  if (ended.aborted) {
    throw new Error(
      `The import was stopped after ${counts.read} rows, which stay. Run it again to go on.`,
    );
  }
};

/** Imports a file in bounded memory; each batch is written in one transaction. */
export const runImport = async <Values>(needs: ImportNeeds<Values>): Promise<Counts> => {
  const { store, tenantId, record } = needs;
  const counts: Counts = { read: 0, written: 0, unchanged: 0, skipped: 0, rejected: 0 };
  let status: "completed" | "stopped" = "stopped";
  try {
    await importBatches(needs, counts);
    status = "completed";
    return counts;
  } finally {
    // A file that is refused as a whole changes nothing and has no entry.
    if (status === "completed" || counts.read > 0) {
      await store.transaction((tx) => record(tx, { ...counts, status }), tenantId);
    }
  }
};
