import { sql } from "kysely";
import { expect, it } from "vitest";
import type { Db } from "../../src/platform/store/port.ts";
import { findText } from "../../src/platform/store/engine/search.ts";
import { dialects } from "../support/stores.ts";
import { withSteps } from "../support/unmigrated.ts";
import { verifies } from "../support/verifies.ts";

const BEFORE = "0013-account-children";

const AUDIT = sql`'test', 0, 'test', 0, 1`;
const AUDIT_COLUMNS = sql`created_by, created_at, updated_by, updated_at, version`;

const insertOld = async (db: Db): Promise<void> => {
  const account = { name: "ÅNGSTRÖM Ltd", display_reference: "Ref-7", account_group: "north" };
  await sql`insert into accounts (tenant_id, account_number, csr_id, name, fields, ${AUDIT_COLUMNS})
    values ('t', 'A-1', 1, ${account.name}, ${JSON.stringify(account)}, ${AUDIT})`.execute(db);
  const document = {
    account_number: "A-1",
    invoice_date: "2026-01-31",
    due_date: "2026-03-02T23:30:00-05:00",
    document_type: "invoice",
    currency: "EUR",
    denomination: 10.5,
    po_number: "PO 9",
  };
  await sql`insert into documents
    (tenant_id, document_number, csr_id, account_number, currency, status, fields, ${AUDIT_COLUMNS})
    values ('t', 'INV-1', 1, 'A-1', 'EUR', 'open', ${JSON.stringify(document)}, ${AUDIT})`.execute(
    db,
  );
};

verifies("IN-70", "IN-71");
it.each(dialects)("fills the columns and searches of records that exist ($name)", async (one) => {
  await withSteps(one, async (db, migrateTo) => {
    await migrateTo(BEFORE);
    await insertOld(db);
    await migrateTo();
    const account = await db.selectFrom("accounts").selectAll().executeTakeFirstOrThrow();
    expect(account).toMatchObject({ name_folded: "ångström ltd", account_group: "north" });
    const document = await db.selectFrom("documents").selectAll().executeTakeFirstOrThrow();
    expect(document).toMatchObject({
      due_on: "2026-03-03",
      invoice_on: "2026-01-31",
      document_type: "invoice",
      balance: 10.5,
      balance_currency: "EUR",
    });
    for (const [table, key, part] of [
      ["accounts", "account_number", "STRÖM"],
      ["accounts", "account_number", "re"],
      ["documents", "document_number", "po 9"],
    ] as const) {
      const condition = await findText(db, { table, key }, "t", part);
      const { rows } = await sql`select 1 from ${sql.table(table)} where ${condition}`.execute(db);
      expect(rows, part).toHaveLength(1);
    }
  });
});
