import { createReadStream, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createRecordChange } from "../../src/platform/admin/changes.ts";
import { readCamt } from "../../src/platform/import/bank/camt.ts";
import { createXmlReader, detach } from "../../src/platform/import/bank/xml.ts";
import { importFile } from "../../src/platform/import/import-file.ts";
import { TABLES } from "../../src/platform/store/queries/payments/columns.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { openSqlite, CACHE } from "../../src/platform/store/sqlite/open.ts";
import { inFolder } from "../folder.ts";
import { atMost, type Benchmark, interleaved, wallMs } from "../measure.ts";
import { makeTenant } from "./importing.ts";
import { TENANT } from "./ledger-file.ts";
import { SIGNING } from "./signing.ts";
import { writeStatement } from "./statement-file.ts";

const MEGABYTE = 1_000_000;
const BYTES = Number(process.env["BENCH_STATEMENT_MB"] ?? 50) * MEGABYTE;
const MOST_RUNS = 3;
/** The import writes 1,000 payments of two rows at once. */
const AT_ONCE = 2000;

const importStatement = async (store: Store, path: string, entries: number): Promise<void> => {
  const needs = { store, clock: systemClock, newId: randomId };
  await using file = await open(path);
  const { written } = await importFile({
    ...needs,
    tenantId: TENANT,
    kind: "payments",
    source: "cashapp",
    createConfiguration: false,
    dryRun: false,
    format: undefined,
    map: undefined,
    actor: "bench",
    input: { name: path, bytes: () => createReadStream(path), place: file },
    ended: new AbortController().signal,
    record: createRecordChange({ ...needs, operator: "bench" }),
    reject: async ([first]) => {
      throw new Error(`refused: ${first?.field} ${first?.message}`);
    },
    progress: () => {},
    ignored: () => {},
    warn: () => {},
  });
  if (written !== 2 * entries) throw new Error(`${written} rows were written`);
};

/** The rows that an import stores of a statement: payments, the entries that identify them, and its journal. */
const STORED = [TABLES.cashapp, "payment_entries", "import_changes"] as const;

type Rows = { table: string; columns: readonly string[]; values: SQLInputValue[][] };

const readRows = (path: string): Rows[] => {
  const database = new DatabaseSync(path, { readOnly: true });
  const all = STORED.map((table) => {
    const rows = database.prepare(`select * from ${table} order by rowid`).all();
    const columns = Object.keys(rows[0] ?? {});
    return { table, columns, values: rows.map((row) => columns.map((name) => row[name] ?? null)) };
  });
  database.close();
  return all;
};

/** Reads a file of which nothing is taken but the elements of each entry. */
const parseXml = async (path: string): Promise<void> => {
  const xml = createXmlReader((element) => {
    if (element.name === "Ntry") detach(element);
  });
  const decoder = new TextDecoder();
  for await (const chunk of createReadStream(path)) {
    xml.write(decoder.decode(chunk as Uint8Array, { stream: true }));
  }
  xml.end();
};

/** Reads the entries of a file with the parser of the import. */
const readEntries = async (path: string): Promise<void> => {
  let entries = 0;
  for await (const items of readCamt(createReadStream(path), () => {})) entries += items.length;
  if (entries === 0) throw new Error("no entries");
};

const prepare = (database: DatabaseSync, { table, columns, values }: Rows) => {
  const marks = columns.map(() => "?").join(", ");
  const text = `insert into ${table} (${columns.join(", ")}) values (${marks})`;
  return { statement: database.prepare(text), values };
};

/** Inserts rows with as many transactions as the import has. */
const insert = (path: string, rows: readonly Rows[]): void => {
  const database = new DatabaseSync(path);
  database.exec(`pragma synchronous = full; ${CACHE}`);
  const prepared = rows.map((one) => prepare(database, one));
  const batches = Math.ceil((rows[0]?.values.length ?? 0) / AT_ONCE);
  for (let batch = 0; batch < batches; batch += 1) {
    database.exec("begin immediate");
    for (const { statement, values } of prepared) {
      const size = Math.ceil(values.length / batches);
      for (const row of values.slice(batch * size, (batch + 1) * size)) statement.run(...row);
    }
    database.exec("commit");
  }
  database.close();
};

const compare = (
  folder: string,
  statement: string,
  entries: number,
  parse: (path: string) => Promise<void>,
) => {
  let made = 0;
  let rows: Rows[] | undefined;
  const inFresh = async (act: (path: string, store: Store) => Promise<number>): Promise<number> => {
    made += 1;
    const own = join(folder, String(made));
    const path = join(own, "platform.db");
    const store = await openSqlite(path, SIGNING);
    await makeTenant(store);
    const ms = await act(path, store);
    rmSync(own, { recursive: true });
    return ms;
  };
  const importInto = async (path: string, store: Store): Promise<number> => {
    const ms = await wallMs(() => importStatement(store, statement, entries));
    await store.close();
    rows ??= readRows(path);
    return ms;
  };
  const writeInto = async (path: string, store: Store): Promise<number> => {
    await store.close();
    if (rows === undefined) throw new Error("no rows");
    const known = rows;
    return wallMs(async () => {
      await parse(statement);
      insert(path, known);
    });
  };
  return {
    ours: () => inFresh(importInto),
    base: async () => {
      // Its rows are those of an import.
      if (rows === undefined) await inFresh(importInto);
      return inFresh(writeInto);
    },
  };
};

const measure =
  (parse: (path: string) => Promise<void>, mostRuns: number): Benchmark["run"] =>
  (options) =>
    inFolder(async (folder) => {
      const statement = join(folder, "statement.xml");
      const entries = await writeStatement(statement, BYTES);
      const sides = compare(folder, statement, entries, parse);
      return interleaved(sides, atMost(mostRuns, options, 0));
    });

export const bankBenchmarks: readonly Benchmark[] = [
  {
    name: "import-camt",
    about: `import of a camt.053 statement of ${BYTES / MEGABYTE} MB / reading its entries with the same parser and prepared inserts of the rows that it stores`,
    unit: "ms",
    aim: 2,
    why: "entries become payments, are matched to documents and can be undone; the base does none of it",
    run: measure(readEntries, MOST_RUNS),
  },
  {
    name: "import-xml",
    about: "the same / the XML parser alone, which reads no entry, and the same inserts",
    unit: "ms",
    aim: null,
    run: measure(parseXml, 1),
  },
];
