import { sql } from "kysely";
import { expect, it } from "vitest";
import { insertAll } from "../../src/platform/store/engine/bulk-writes.ts";
import type { Db } from "../../src/platform/store/port.ts";
import type { DocumentBalanceRow } from "../../src/platform/store/tables/accounts.ts";
import { dialects } from "../support/stores.ts";
import { withSteps } from "../support/unmigrated.ts";

const AUDIT = sql`'test', 0, 'test', 0, 1`;

type Balance = [at: number, status: "open" | "closed", balance: number, currency: string];

/** Adds a document of the version before, with its history. */
const addDocument = async (db: Db, number: string, history: readonly Balance[]): Promise<void> => {
  const [first, last] = [history.at(0)?.[0] ?? null, history.at(-1)?.[0] ?? null];
  await sql`insert into documents
    (tenant_id, document_number, csr_id, account_number, status, fields, document_type, due_on, invoice_on,
      search_text, balance_known_from, balance_recorded_at, created_by, created_at, updated_by, updated_at, version)
    values ('t', ${number}, 1, 'A', 'open', '{}', 'invoice', '2026-03-02', '2026-01-31', '', ${first}, ${last}, ${AUDIT})`.execute(
    db,
  );
  const rows = history.map(
    ([recorded_at, status, balance, currency], place): DocumentBalanceRow => ({
      tenant_id: "t",
      document_number: number,
      // Changes of other fields have versions, too.
      version: 2 * place,
      recorded_at,
      status,
      balance,
      currency,
      cause: "changed",
    }),
  );
  await insertAll(db, "document_balances", rows);
};

it.each(dialects)("fills the balances before the present ones ($name)", async (one) => {
  await withSteps(one, async (db, migrateTo) => {
    await migrateTo("0036-balances-in-key");
    await addDocument(db, "none", []);
    await addDocument(db, "one", [[1000, "open", 10.25, "EUR"]]);
    await addDocument(db, "three", [
      [1000, "open", 30, "EUR"],
      [3000, "open", 20.5, "USD"],
      [5000, "closed", 0, "EUR"],
    ]);
    await migrateTo();
    const { rows } = await sql<Record<string, unknown>>`
      select document_number, former_recorded_at, former_status, former_balance, former_currency
      from documents order by document_number`.execute(db);
    // Connections of migrations give whole numbers of PostgreSQL as text.
    expect(rows.map((row) => Object.values(row).map((value) => value && String(value)))).toEqual([
      ["none", null, null, null, null],
      ["one", null, null, null, null],
      ["three", "3000", "open", "20.5", "USD"],
    ]);
  });
});
