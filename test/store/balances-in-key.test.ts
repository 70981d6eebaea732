import { sql } from "kysely";
import { expect, it } from "vitest";
import { insertAll } from "../../src/platform/store/engine/bulk-writes.ts";
import type { DocumentBalanceRow } from "../../src/platform/store/tables/accounts.ts";
import { dialects } from "../support/stores.ts";
import { withSteps } from "../support/unmigrated.ts";

const balanceOf = (document_number: string, version: number): DocumentBalanceRow => ({
  tenant_id: "t",
  document_number,
  version,
  recorded_at: 1000 + version,
  status: "open",
  balance: 10.25 - version,
  currency: version === 0 ? null : "EUR",
  cause: "changed",
});

it.each(dialects)("keeps the history of balances as it is ($name)", async (one) => {
  await withSteps(one, async (db, migrateTo) => {
    await migrateTo("0035-past-days");
    const [first, second, last] = [balanceOf("A", 0), balanceOf("B", 0), balanceOf("B", 1)];
    await insertAll(db, "document_balances", [last, first, second]);
    await migrateTo();
    const stored = await db
      .selectFrom("document_balances")
      .selectAll()
      .orderBy("document_number")
      .orderBy("version")
      .execute();
    // Connections of migrations give whole numbers of PostgreSQL as text.
    const show = (row: DocumentBalanceRow): string =>
      JSON.stringify(Object.entries(row).toSorted().flat().map(String));
    expect(stored.map(show)).toEqual([first, second, last].map(show));
    await expect(insertAll(db, "document_balances", [balanceOf("A", 0)])).rejects.toThrow(
      /unique|duplicate/i,
    );
    if (one.name !== "sqlite") return;
    const { rows: tables } = await sql<{ name: string; isInKey: number }>`
      select name, wr as "isInKey" from pragma_table_list where name like 'document_balances%'`.execute(
      db,
    );
    expect(tables).toEqual([{ name: "document_balances", isInKey: 1 }]);
  });
});
