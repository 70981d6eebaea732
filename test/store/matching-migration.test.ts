import { sql } from "kysely";
import { expect, it } from "vitest";
import type { Db } from "../../src/platform/store/port.ts";
import { dialects } from "../support/stores.ts";
import { withSteps } from "../support/unmigrated.ts";
import { verifies } from "../support/verifies.ts";

const BEFORE = "0022-dispute-names";

const AUDIT = sql`'test', 0, 'test', 0, 1`;

/** A store of the version before has neither the columns nor the keys. */
const makeFormer = async (db: Db): Promise<void> => {
  const text = ["remittance_text", "return_reason", "returned_payment_id", "doubt"];
  const columns = [
    ...text.flatMap((name) => [name, `${name}_folded`]),
    "fee_amount",
    "fee_amount_order",
  ];
  for (const column of columns) {
    await sql`alter table cashapp_payments drop column ${sql.ref(column)}`.execute(db);
  }
  const fields = {
    account_number: "A-1",
    invoice_date: "2026-01-31",
    due_date: "2026-03-02",
    document_type: "credit_note",
    applies_to_invoice: "inv 12",
    invoice_num: "K 007",
    po_number: "po 88-1",
    denomination: 10.5,
  };
  await sql`insert into documents
    (tenant_id, document_number, csr_id, account_number, status, fields, document_type, due_on, invoice_on,
      balance, search_text, created_by, created_at, updated_by, updated_at, version)
    values ('t', 'cn-1', 1, 'A-1', 'open', ${JSON.stringify(fields)}, 'credit_note', '2026-03-02', '2026-01-31',
      10.5, '', ${AUDIT})`.execute(db);
};

verifies("MN-24", "MN-30", "WK-42");
it.each(dialects)("fills the keys of documents that exist ($name)", async (one) => {
  await withSteps(one, async (db, migrateTo) => {
    await migrateTo(BEFORE);
    await makeFormer(db);
    await migrateTo();
    const document = await db.selectFrom("documents").selectAll().executeTakeFirstOrThrow();
    expect(document).toMatchObject({
      number_key: "CN1",
      invoice_key: "K7",
      applies_to_key: "INV12",
      po_key: "PO881",
      balance: -10.5,
      balance_at: "1970-01-01T00:00:00.000Z",
    });
    await sql`select remittance_text, remittance_text_folded, fee_amount_order, doubt_folded
      from cashapp_payments`.execute(db);
  });
});
