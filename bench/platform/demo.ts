import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { insertTenant } from "../../src/platform/admin/tenants.ts";
import { type DemoRows, generateDemo } from "../../src/platform/demo/generate.ts";
import { insertRows } from "../../src/platform/demo/load.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { type Benchmark, interleaved, wallMs } from "../measure.ts";

const TENANT = "bench";

const make = (): DemoRows =>
  generateDemo({ seed: 42, tenantId: TENANT, now: systemClock(), userOf: () => undefined }).rows;

const openStore = async (path: string) => {
  const store = await openSqlite(path);
  const needs = { clock: systemClock, newId: randomId };
  await store.transaction((tx) => insertTenant(tx, needs, { tenantId: TENANT, name: TENANT }));
  return store;
};

/** Makes every row and writes it, in one transaction. */
const load = async (path: string): Promise<number> => {
  const store = await openStore(path);
  const ms = await wallMs(async () => {
    const rows = make();
    await store.transaction((tx) => insertRows(tx, rows));
  });
  await store.close();
  return ms;
};

const TABLES: Readonly<Record<keyof DemoRows, string>> = {
  departments: "departments",
  assignees: "assignees",
  categories: "categories",
  reasons: "reasons",
  resolutions: "resolutions",
  businessUnits: "business_units",
  scores: "company_scores",
  applications: "credit_applications",
  accounts: "accounts",
  accountNotes: "account_notes",
  documents: "documents",
  closures: "document_closures",
  csrSequences: "csr_sequences",
  disputes: "disputes",
  sequences: "dispute_sequences",
  notes: "dispute_notes",
};

type Row = Record<string, string | number | null>;

/** As many rows in a transaction; making them is not counted. */
const insert = async (path: string): Promise<number> => {
  const rows = make();
  await (await openStore(path)).close();
  const database = new DatabaseSync(path);
  database.exec("pragma synchronous = full");
  const ms = await wallMs(() => {
    database.exec("begin immediate");
    for (const [name, table] of Object.entries(TABLES)) {
      const all = rows[name as keyof DemoRows] as Row[];
      const columns = Object.keys(all[0] ?? {});
      const statement = database.prepare(
        `insert into ${table} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
      );
      for (const row of all) statement.run(...Object.values(row));
    }
    database.exec("commit");
  });
  database.close();
  return ms;
};

export const demoBenchmarks: readonly Benchmark[] = [
  {
    name: "demo-load",
    about:
      "making all rows of the demo tenant and writing them / prepared inserts of the same rows",
    unit: "ms",
    aim: 3,
    async run({ runs }) {
      const folder = mkdtempSync(join(tmpdir(), "receivables-bench-"));
      let made = 0;
      const inFresh = async (act: (path: string) => Promise<number>): Promise<number> => {
        made += 1;
        return act(join(folder, String(made), "platform.db"));
      };
      try {
        return await interleaved(
          { ours: () => inFresh(load), base: () => inFresh(insert) },
          { runs },
        );
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  },
];
