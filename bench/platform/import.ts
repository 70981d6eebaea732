import { createReadStream, createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { insertTenant } from "../../src/platform/admin/tenants.ts";
import { documentTarget } from "../../src/platform/import/documents.ts";
import { readMap } from "../../src/platform/import/map.ts";
import { runImport } from "../../src/platform/import/run.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { type Benchmark, interleaved, wallMs } from "../measure.ts";

const ROWS = Number(process.env["BENCH_IMPORT_ROWS"] ?? 100_000);
const PER_ACCOUNT = 25;
const TENANT = "bench";
const MOST_RUNS = 5;

const HEADER = "customer,invoice,invoiced,due,amount,po";

const two = (number: number): string => String(number).padStart(2, "0");

const invoiceOf = (place: number) => ({
  customer: `${Math.floor(place / PER_ACCOUNT)}-CUST`,
  invoice: String(place).padStart(10, "0"),
  month: 1 + (place % 9),
  day: 1 + (place % 28),
  amount: `${1 + ((place * 7919) % 5000)}.${two(place % 97)}`,
  po: `PO-${(place * 31) % 100_003}`,
});

const lineOf = (place: number): string => {
  const { customer, invoice, month, day, amount, po } = invoiceOf(place);
  return `${customer},${invoice},${month}/${day}/2025,${month + 2}/${day}/2025,${amount},${po}\n`;
};

const MAP = {
  document_number: "invoice",
  account_number: "customer",
  invoice_date: { column: "invoiced", date: "M/D/YYYY" },
  due_date: { column: "due", date: "M/D/YYYY" },
  currency: { value: "USD" },
  original_denomination: "amount",
  denomination: "amount",
  po_number: "po",
};

const writeLedger = async (path: string): Promise<void> => {
  const file = createWriteStream(path);
  file.write(`${HEADER}\n`);
  for (let place = 0; place < ROWS; place += 1) {
    // oxlint-disable-next-line no-await-in-loop -- the file is to be written in bounded memory
    if (!file.write(lineOf(place))) await once(file, "drain");
  }
  file.end();
  await once(file, "finish");
};

const openStore = async (path: string) => {
  const store = await openSqlite(path);
  const needs = { clock: systemClock, newId: randomId };
  await store.transaction((tx) => insertTenant(tx, needs, { tenantId: TENANT, name: TENANT }));
  return store;
};

const importInto = async (path: string, ledger: string): Promise<number> => {
  const store = await openStore(path);
  const target = documentTarget({ tenantId: TENANT, clock: systemClock });
  const ms = await wallMs(async () => {
    const { written } = await runImport({
      store,
      tenantId: TENANT,
      target,
      format: "csv",
      map: readMap(JSON.stringify(MAP), target.fields),
      bytes: createReadStream(ledger),
      reject: async ([first]) => {
        throw new Error(`refused: ${first?.field} ${first?.message}`);
      },
      progress: () => {},
      ignored: () => {},
      ended: new AbortController().signal,
    });
    if (written !== ROWS) throw new Error(`${written} rows were written`);
  });
  await store.close();
  return ms;
};

type Values = (string | number)[];

/** The columns that the import leaves of a row. */
const valuesOf = (place: number): Values => {
  const { customer, invoice, month, day, amount, po } = invoiceOf(place);
  const fields = {
    account_number: customer,
    invoice_date: `2025-${two(month)}-${two(day)}`,
    due_date: `2025-${two(month + 2)}-${two(day)}`,
    po_number: po,
    currency: "USD",
    original_denomination: Number(amount),
    denomination: Number(amount),
    document_type: "invoice",
    pdf_name: `${invoice}.pdf`,
  };
  const tracked = ["import", 0, "import", 0, 1];
  return [TENANT, invoice, place + 1, customer, "USD", "open", JSON.stringify(fields), ...tracked];
};

const INSERT = `insert into documents (tenant_id, document_number, csr_id, account_number, currency,
  status, fields, created_by, created_at, updated_by, updated_at, version)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** As many rows in a transaction as the import writes; making them is not counted. */
const insertInto = async (path: string): Promise<number> => {
  await (await openStore(path)).close();
  const database = new DatabaseSync(path);
  database.exec("pragma synchronous = full");
  const statement = database.prepare(INSERT);
  const { batchRows } = documentTarget({ tenantId: TENANT, clock: systemClock });
  let ms = 0;
  for (let from = 0; from < ROWS; from += batchRows) {
    const size = Math.min(batchRows, ROWS - from);
    const rows = Array.from({ length: size }, (_, index) => valuesOf(from + index));
    const began = performance.now();
    database.exec("begin immediate");
    for (const values of rows) statement.run(...values);
    database.exec("commit");
    ms += performance.now() - began;
  }
  database.close();
  return ms;
};

export const importBenchmarks: readonly Benchmark[] = [
  {
    name: "import-documents",
    about: `import of a CSV file of ${ROWS} documents with a map / prepared inserts of the same rows`,
    unit: "ms",
    aim: 3,
    async run({ runs }) {
      const folder = mkdtempSync(join(tmpdir(), "receivables-bench-"));
      const ledger = join(folder, "ledger.csv");
      await writeLedger(ledger);
      let made = 0;
      const inFresh = async (act: (path: string) => Promise<number>): Promise<number> => {
        made += 1;
        const own = join(folder, String(made));
        const ms = await act(join(own, "platform.db"));
        rmSync(own, { recursive: true });
        return ms;
      };
      try {
        return await interleaved(
          {
            ours: () => inFresh((path) => importInto(path, ledger)),
            base: () => inFresh(insertInto),
          },
          { runs: Math.min(runs, MOST_RUNS), warmUp: 1 },
        );
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  },
];
