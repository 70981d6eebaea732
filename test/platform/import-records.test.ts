import Big from "big.js";
import { expect, it } from "vitest";
import { DAY, formatTimestamp, MINUTE } from "../../src/kit/clock.ts";
import { listClosuresOf } from "../../src/platform/store/queries/documents.ts";
import { importRecords, NONE } from "../support/importing.ts";
import { accountAt, documentAt, useIngestTenant } from "../support/ingest.ts";
import { invoices, ledgerCsv, recordMaps } from "../support/ledger.ts";
import { verifies } from "../support/verifies.ts";
import { onEveryStore } from "../support/platform.ts";
import { findRows } from "../support/rows.ts";

const NDJSON = { format: "ndjson" as const };

const ndjson = (...rows: object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");

onEveryStore("import of a whole ledger", (at) => {
  const SEEN = "2025-09-30";
  const ledger = invoices(17, 400);
  const text = ledgerCsv(ledger);
  const maps = recordMaps(SEEN);
  const paid = ledger.filter(({ settled }) => settled <= Date.parse(`${SEEN}T00:00:00Z`));
  const customers = new Set(ledger.map(({ customer }) => customer));
  const last = new Map(ledger.map((invoice) => [invoice.customer, invoice.country]));
  const call = useIngestTenant(at, "ledger");
  const run = (kind: keyof typeof maps) =>
    importRecords(at(), "ledger", kind, text, { map: maps[kind] });

  it("creates an account for each customer of the ledger, with nested fields", async () => {
    const { counts, rejects } = await run("accounts");
    expect(rejects).toEqual([]);
    expect(counts.read).toBe(ledger.length);
    expect(counts.written + counts.unchanged).toBe(ledger.length);
    expect(customers.size).toBeGreaterThan(5);
    const countries: Record<string, string> = { "100": "US", "204": "DE", "377": "MC" };
    for (const [customer, country] of last) {
      const { status, body } = await call("GET", accountAt(customer));
      expect(status).toBe(200);
      expect(body).toMatchObject({
        name: customer,
        currency: "USD",
        billing_address: { country: countries[country] },
      });
    }
  });

  it("creates a document for each invoice of the ledger, with exact sums", async () => {
    const { counts } = await run("documents");
    expect(counts).toEqual({ ...NONE, read: ledger.length, written: ledger.length });
    let sum = new Big(0);
    for (const { number, customer, amount, invoiced } of ledger) {
      const { body } = await call("GET", documentAt(number));
      expect(body).toMatchObject({
        documentNumber: number,
        account_number: customer,
        invoice_date: formatTimestamp(invoiced).slice(0, 10),
        due_date: formatTimestamp(invoiced + 30 * DAY).slice(0, 10),
        document_type: "invoice",
        pdf_name: `${number}.pdf`,
        status: "open",
      });
      expect(body.original_denomination).toBe(Number(amount));
      sum = sum.plus(body.original_denomination);
    }
    const wanted = ledger.reduce((total, { amount }) => total.plus(amount), new Big(0));
    expect(sum.toFixed(2)).toBe(wanted.toFixed(2));
  });

  it("closes the documents that were settled by the day as paid", async () => {
    expect(paid.length).toBeGreaterThan(100);
    expect(paid.length).toBeLessThan(ledger.length - 50);
    const { counts } = await run("closures");
    const skipped = ledger.length - paid.length;
    expect(counts).toEqual({ ...NONE, read: ledger.length, written: paid.length, skipped });
    const isPaid = new Set(paid.map(({ number }) => number));
    for (const { number, settled } of ledger) {
      const { body } = await call("GET", documentAt(number));
      expect(body.status).toBe(isPaid.has(number) ? "closed" : "open");
      const closures = await listClosuresOf(at().store.read, "ledger", [number]);
      expect(closures).toHaveLength(isPaid.has(number) ? 1 : 0);
      if (isPaid.has(number)) {
        expect(closures[0]).toMatchObject({
          closure_reason: "paid",
          source: "import",
          closed_at: settled,
        });
      }
    }
  });

  it("writes nothing the second time, and reopens nothing", async () => {
    const [some] = paid;
    const path = documentAt(some?.number ?? "");
    const before = (await call("GET", path)).body;
    expect(before.status).toBe("closed");
    at().clock.advance(MINUTE);
    expect((await run("documents")).counts).toMatchObject({ unchanged: ledger.length });
    expect((await run("closures")).counts).toMatchObject({ written: 0, unchanged: paid.length });
    expect((await call("GET", path)).body).toEqual(before);
  });

  it("gives each new document its own csrId", async () => {
    const rows = await findRows(at().store.read, "documents", { tenant_id: "ledger" });
    expect(new Set(rows.map(({ csr_id }) => csr_id)).size).toBe(ledger.length);
  });
});

onEveryStore("import of accounts", (at) => {
  const call = useIngestTenant(at, "acme");

  it("reads NDJSON with nested objects, and replaces like a PUT", async () => {
    const row = {
      account_number: "A/1 ü",
      name: "Northwind",
      currency: "EUR",
      billing_address: { city: "Köln", country: "DE" },
      credit_limit: 1234.5678,
      custom_fields: { collections: { Route: { type: "text", value: "N" } } },
      data_providers: { any: [{ deep: true }] },
    };
    const { counts } = await importRecords(at(), "acme", "accounts", ndjson(row, row), NDJSON);
    expect(counts).toEqual({ ...NONE, read: 2, written: 1, unchanged: 1 });
    const { account_number, ...fields } = row;
    const made = (await call("GET", accountAt(account_number))).body;
    expect(made).toMatchObject({ accountNumber: account_number, csrId: 1, ...fields });
    at().clock.advance(MINUTE);
    const again = { account_number, name: "Northwind Tools" };
    await importRecords(at(), "acme", "accounts", ndjson(again), NDJSON);
    const after = (await call("GET", accountAt(account_number))).body;
    expect(after).toEqual({
      csrId: made.csrId,
      accountNumber: account_number,
      name: "Northwind Tools",
      currency: "EUR",
      createdAt: made.createdAt,
      updatedAt: formatTimestamp(at().clock()),
      notes: [],
    });
  });

  it("maps CSV columns with the fields' names, nested ones with dots", async () => {
    const csv = [
      "account_number,name,currency,billing_address.country,is_parent_account,credit_limit,data_providers,extra",
      'C-1,"Contoso, Ltd.",USD,US,TRUE,0100.50,"{""id"":7}",x',
      "C-2,Fabrikam,USD,,,,,y",
    ].join("\r\n");
    const { counts, ignored } = await importRecords(at(), "acme", "accounts", csv);
    expect(ignored).toEqual(["extra"]);
    expect(counts).toEqual({ ...NONE, read: 2, written: 2 });
    expect((await call("GET", accountAt("C-1"))).body).toMatchObject({
      name: "Contoso, Ltd.",
      billing_address: { country: "US" },
      is_parent_account: true,
      credit_limit: 100.5,
      data_providers: { id: 7 },
    });
    expect((await call("GET", accountAt("C-2"))).body).not.toHaveProperty("billing_address");
  });

  it("refuses rows with all their faults, and imports the valid ones", async () => {
    const rows = [
      { account_number: "R-1", name: "", currency: "XXQ", billing_address: { country: "ZZ" } },
      { name: "No number", currency: "USD" },
      { account_number: "R-2", name: "Fine", currency: "USD" },
      { account_number: "R-2", name: "Fine", currency: "EUR" },
      { account_number: "R-3", name: "No currency" },
      { account_number: "R-4", name: "P", currency: "USD", parent_account_number: "R-2" },
    ];
    const { counts, rejects } = await importRecords(
      at(),
      "acme",
      "accounts",
      ndjson(...rows),
      NDJSON,
    );
    expect(counts).toEqual({ ...NONE, read: 6, rejected: 6 });
    expect(rejects.map(({ line, field, code }) => [line, field, code])).toEqual([
      [1, "name", "required"],
      [2, "account_number", "required"],
      [3, "account_number", "contradiction"],
      [4, "account_number", "contradiction"],
      [5, "currency", "conditional_required"],
      [6, "is_parent_account", "conditional_required"],
    ]);
    expect(rejects[0]?.message).toMatch(/currency .*billing_address\.country /);
    expect(rejects[0]?.row).toEqual(rows[0]);
    expect((await call("GET", accountAt("R-1"))).status).toBe(404);
  });

  it("detects a cycle of parents, within one file and with stored accounts", async () => {
    const row = (number: string, parent: string) => ({
      account_number: number,
      name: number,
      currency: "USD",
      parent_account_number: parent,
      is_parent_account: true,
    });
    const text = ndjson(row("P-1", "P-2"), row("P-2", "P-3"), row("P-3", "P-1"));
    const { counts, rejects } = await importRecords(at(), "acme", "accounts", text, NDJSON);
    expect(counts).toMatchObject({ written: 2, rejected: 1 });
    expect(rejects[0]).toMatchObject({ line: 3, field: "parent_account_number", code: "cycle" });
    // Those that the circle goes through are in the store by now, and not in the file.
    const later = await importRecords(at(), "acme", "accounts", ndjson(row("P-3", "P-1")), NDJSON);
    expect(later.rejects).toMatchObject([{ line: 1, code: "cycle" }]);
  });

  verifies("C-91");
  it.each(["first", "last"])(
    "refuses chains of more than 32 parents, with the children %s",
    async (children) => {
      const COUNT = 2000;
      const numbered = (number: number) => ({
        account_number: `${children}-${number}`,
        name: "N",
        currency: "USD",
        parent_account_number: `${children}-${number + 1}`,
        is_parent_account: true,
      });
      const rows = Array.from({ length: COUNT }, (_, number) => numbered(number));
      const text = ndjson(...(children === "first" ? rows : rows.toReversed()));
      const { counts, rejects } = await importRecords(at(), "acme", "accounts", text, NDJSON);
      expect(rejects.length).toBe(Math.floor(COUNT / 33));
      expect(rejects.every(({ code }) => code === "depth")).toBe(true);
      expect(counts.written).toBe(COUNT - rejects.length);
      const again = await importRecords(at(), "acme", "accounts", text, NDJSON);
      expect([again.counts.written, again.rejects.length]).toEqual([0, rejects.length]);
    },
  );
});
