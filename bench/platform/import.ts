import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { openSqlite, CACHE } from "../../src/platform/store/sqlite/open.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { inFolder } from "../folder.ts";
import {
  atMost,
  type Benchmark,
  cpuMs,
  interleaved,
  type Options,
  type Side,
  wallMs,
} from "../measure.ts";
import { batchRows, importLedger, makeTenant } from "./importing.ts";
import { COLUMNS, type Values, valuesOf, writeLedger } from "./ledger-file.ts";
import { SIGNING } from "./signing.ts";

const ROWS = Number(process.env["BENCH_IMPORT_ROWS"] ?? 100_000);
const MOST_RUNS = 5;
const MEMORY_RUNS = 1;

const rowsFrom = (first: number): Values[] =>
  Array.from({ length: Math.min(batchRows, ROWS - first) }, (_, index) => valuesOf(first + index));

type Meter = typeof wallMs;

const importInto = async (meter: Meter, path: string, ledger: string): Promise<number> => {
  const store = await openSqlite(path, SIGNING);
  await makeTenant(store);
  const ms = await meter(() => importLedger(store, ledger, ROWS));
  await store.close();
  return ms;
};

/** As many rows in a transaction as the import writes; making them is not counted. */
const insertInto = async (meter: Meter, path: string): Promise<number> => {
  const store = await openSqlite(path, SIGNING);
  await makeTenant(store);
  await store.close();
  const database = new DatabaseSync(path);
  database.exec(`pragma synchronous = full; ${CACHE}`);
  const marks = COLUMNS.replaceAll(/\w+/g, "?");
  const statement = database.prepare(`insert into documents (${COLUMNS}) values (${marks})`);
  let ms = 0;
  for (let from = 0; from < ROWS; from += batchRows) {
    const rows = rowsFrom(from);
    ms += await meter(() => {
      database.exec("begin immediate");
      for (const values of rows) statement.run(...values);
      database.exec("commit");
    });
  }
  database.close();
  return ms;
};

const importThrough = async (url: string, ledger: string): Promise<number> => {
  const store = await openPostgres(url, SIGNING);
  await makeTenant(store);
  const ms = await wallMs(() => importLedger(store, ledger, ROWS));
  await store.close();
  return ms;
};

/** All rows in one COPY; making their text is not counted. */
const copyThrough = async (url: string): Promise<number> => {
  const store = await openPostgres(url, SIGNING);
  await makeTenant(store);
  await store.close();
  const texts: string[] = [];
  for (let from = 0; from < ROWS; from += batchRows) {
    texts.push(
      rowsFrom(from)
        .map((values) => `${values.join("\t").replaceAll("\n", "\\n")}\n`)
        .join(""),
    );
  }
  const client = new pg.Client(url);
  await client.connect();
  const ms = await wallMs(async () => {
    const stream = client.query(copyFrom(`copy documents (${COLUMNS}) from stdin`));
    for (const text of texts) stream.write(text);
    stream.end();
    await finished(stream);
  });
  await client.end();
  return ms;
};

const run = promisify(execFile);

/** The most memory that a process has at once while it imports so many rows, in MiB. */
const peakOf = async (folder: string, rows: number): Promise<number> => {
  const ledger = join(folder, `${rows}.csv`);
  await writeLedger(ledger, rows);
  const program = join(import.meta.dirname, "import-peak.ts");
  const database = join(folder, String(rows), "platform.db");
  const { stdout } = await run(process.execPath, [program, database, ledger, String(rows)]);
  rmSync(join(folder, String(rows)), { recursive: true });
  return Number(stdout) / 1024;
};

const onSqlite = (meter: Meter) => (options: Options) =>
  inFolder(async (folder) => {
    const ledger = join(folder, "ledger.csv");
    await writeLedger(ledger, ROWS);
    let made = 0;
    const inFresh = (act: (path: string) => Promise<number>): Side => {
      return async () => {
        made += 1;
        const own = join(folder, String(made));
        const ms = await act(join(own, "platform.db"));
        rmSync(own, { recursive: true });
        return ms;
      };
    };
    const ours = inFresh((path) => importInto(meter, path, ledger));
    return interleaved(
      { ours, base: inFresh((path) => insertInto(meter, path)) },
      atMost(MOST_RUNS, options),
    );
  });

const administer = async (url: string, statement: string): Promise<void> => {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(statement);
  await client.end();
};

const onPostgres = (options: Options) =>
  inFolder(async (folder) => {
    const ledger = join(folder, "ledger.csv");
    await writeLedger(ledger, ROWS);
    const server = await startPostgres();
    const url = server.url.replace(/\w+$/, "bench");
    const inFresh = (act: (url: string) => Promise<number>): Side => {
      return async () => {
        await administer(server.url, "create database bench");
        const ms = await act(url);
        await administer(server.url, "drop database bench");
        // Pending writes of one side must not slow the other one down.
        await administer(server.url, "checkpoint");
        return ms;
      };
    };
    try {
      const ours = inFresh((own) => importThrough(own, ledger));
      return await interleaved({ ours, base: inFresh(copyThrough) }, atMost(MOST_RUNS, options));
    } finally {
      await server.stop();
    }
  });

export const importBenchmarks: readonly Benchmark[] = [
  {
    name: "import-documents",
    about: `import of a CSV file of ${ROWS} documents with a map / prepared inserts of the same rows, ready with the columns of lists and searches`,
    unit: "ms",
    aim: 2.5,
    run: onSqlite(wallMs),
  },
  {
    name: "import-cpu",
    about: "the same, CPU time of the process: without what both wait for the disk",
    unit: "ms CPU",
    aim: null,
    run: onSqlite(cpuMs),
  },
  {
    name: "import-postgres",
    about: "the same on PostgreSQL / one COPY of the same rows",
    unit: "ms",
    aim: 3,
    run: onPostgres,
  },
  {
    name: "import-memory",
    about: `most memory of a process that imports ${10 * ROWS} documents / ${ROWS} of them`,
    unit: "MiB",
    aim: 1.25,
    why: "the peak depends on when garbage is collected, and differs by a seventh between two runs of the same file",
    run: (options) =>
      inFolder((folder) =>
        interleaved(
          { ours: () => peakOf(folder, 10 * ROWS), base: () => peakOf(folder, ROWS) },
          atMost(MEMORY_RUNS, options, 0),
        ),
      ),
  },
];
