import Big from "big.js";
import { beforeAll, expect, it } from "vitest";
import { DAY, iso, MINUTE } from "../../src/kit/clock.ts";
import { setApplyWhenInvoiceClosed } from "../../src/platform/admin/resolutions.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import { listClosures } from "../../src/platform/store/documents.ts";
import { importRecords } from "../support/importing.ts";
import { accountAt, documentAt, ingestTenant } from "../support/ingest.ts";
import { invoices, ledgerCsv, recordMaps } from "../support/ledger.ts";
import { CONFIGURATION, configure, DISPUTES, onEveryStore } from "../support/platform.ts";
import type { Caller } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const NONE = { read: 0, written: 0, unchanged: 0, skipped: 0, rejected: 0 };
const NDJSON = { format: "ndjson" as const };

const ndjson = (...rows: object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");

const DATES = { invoice_date: "2026-01-31", due_date: "2026-03-02" };
const document = (number: string, more: object = {}) => ({
  document_number: number,
  account_number: "A-1",
  ...DATES,
  ...more,
});

onEveryStore("import of a whole ledger", (at) => {
  const SEEN = "2025-09-30";
  const ledger = invoices(17, 400);
  const text = ledgerCsv(ledger);
  const maps = recordMaps(SEEN);
  const paid = ledger.filter(({ settled }) => settled <= Date.parse(`${SEEN}T00:00:00Z`));
  const customers = new Set(ledger.map(({ customer }) => customer));
  const last = new Map(ledger.map((invoice) => [invoice.customer, invoice.country]));
  let call: Caller;
  beforeAll(async () => {
    call = await ingestTenant(at(), "ledger");
  });
  const run = (kind: keyof typeof maps) =>
    importRecords(at(), "ledger", kind, text, { map: maps[kind] });

  it("E2 makes an account of each customer, with nested fields", async () => {
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

  it("E2 makes a document of each invoice, whose sums agree to the cent", async () => {
    const { counts } = await run("documents");
    expect(counts).toEqual({ ...NONE, read: ledger.length, written: ledger.length });
    let sum = new Big(0);
    for (const { number, customer, amount, invoiced } of ledger) {
      const { body } = await call("GET", documentAt(number));
      expect(body).toMatchObject({
        documentNumber: number,
        account_number: customer,
        invoice_date: iso(invoiced).slice(0, 10),
        due_date: iso(invoiced + 30 * DAY).slice(0, 10),
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

  it("E4 closes as paid what was settled by the day", async () => {
    expect(paid.length).toBeGreaterThan(100);
    expect(paid.length).toBeLessThan(ledger.length - 50);
    const { counts } = await run("closures");
    const skipped = ledger.length - paid.length;
    expect(counts).toEqual({ ...NONE, read: ledger.length, written: paid.length, skipped });
    const isPaid = new Set(paid.map(({ number }) => number));
    for (const { number, settled } of ledger) {
      const { body } = await call("GET", documentAt(number));
      expect(body.status).toBe(isPaid.has(number) ? "closed" : "open");
      const closures = await listClosures(at().store.read, "ledger", number);
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
    const rows = await at()
      .store.read.selectFrom("documents")
      .select("csr_id")
      .where("tenant_id", "=", "ledger")
      .execute();
    expect(new Set(rows.map(({ csr_id }) => csr_id)).size).toBe(ledger.length);
  });
});

onEveryStore("import of accounts", (at) => {
  let call: Caller;
  beforeAll(async () => {
    call = await ingestTenant(at(), "acme");
  });

  it("takes NDJSON with nested objects, and replaces like a PUT", async () => {
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
      updatedAt: iso(at().clock()),
      notes: [],
    });
  });

  it("takes CSV columns that bear the fields' names, nested ones with dots", async () => {
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

  it("refuses rows with all that is wrong, and keeps the good ones", async () => {
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
    expect(counts).toEqual({ ...NONE, read: 6, written: 1, rejected: 5 });
    expect(rejects.map(({ line, field, code }) => [line, field, code])).toEqual([
      [1, "name", "required"],
      [2, "account_number", "required"],
      [4, "currency", "locked"],
      [5, "currency", "conditional_required"],
      [6, "is_parent_account", "conditional_required"],
    ]);
    expect(rejects[0]?.message).toMatch(/currency .*billing_address\.country /);
    expect(rejects[0]?.row).toEqual(rows[0]);
    expect((await call("GET", accountAt("R-1"))).status).toBe(404);
  });

  it("sees a circle of parents, within one file and beyond it", async () => {
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
});

onEveryStore("import of documents", (at) => {
  let call: Caller;
  beforeAll(async () => {
    call = await ingestTenant(at(), "acme");
  });
  const run = (...rows: object[]) =>
    importRecords(at(), "acme", "documents", ndjson(...rows), NDJSON);
  const statusOf = async (number: string): Promise<string> =>
    (await call("GET", documentAt(number))).body.status;

  verifies("ID-08");
  it("closes what has nothing left to pay, and reopens what has", async () => {
    const { counts } = await run(
      document("Z-1", { denomination: 0 }),
      document("Z-2", { denomination_in_base_currency: 0, denomination: 5 }),
      document("Z-3", { denomination: -3 }),
      document("Z-4", { denomination: 5 }),
      document("Z-4", { denomination: 0 }),
      document("Z-5", { denomination: 0 }),
      document("Z-5", { denomination: 1 }),
      document("Z-5", { denomination: 0 }),
    );
    expect(counts).toEqual({ ...NONE, read: 8, written: 8 });
    const numbers = ["Z-1", "Z-2", "Z-3", "Z-4", "Z-5"];
    expect(await Promise.all(numbers.map(statusOf))).toEqual([
      "closed",
      "closed",
      "open",
      "closed",
      "closed",
    ]);
    const closures = await listClosures(at().store.read, "acme", "Z-5");
    expect(
      closures.map(({ number, source, closure_reason }) => [number, source, closure_reason]),
    ).toEqual([
      [1, "auto", null],
      [2, "auto", null],
    ]);
    await run(document("Z-1", { denomination: 2 }));
    expect(await statusOf("Z-1")).toBe("open");
  });

  verifies("ID-03", "ID-04", "ID-07");
  it("takes types by number, drops a status, and refuses what the API refuses", async () => {
    const csv = [
      "document_number,account_number,invoice_date,due_date,document_type,applies_to_invoice,denomination",
      "T-1,A-1,2026-01-31,2026-03-02,3,INV-1,12.5",
      "T-2,A-1,2026-01-31,2026-03-02,other,,1",
      "T-3,A-1,2026-01-31,2026-03-02,credit_note,,1",
      "T-4,A-1,2026-02-30,2026-03-02,7,,1.23456",
      ",A-1,2026-01-31,2026-03-02,,,1",
    ].join("\n");
    const { counts, rejects } = await importRecords(at(), "acme", "documents", csv);
    expect(counts).toEqual({ ...NONE, read: 5, written: 2, rejected: 3 });
    expect(rejects.map(({ line, field, code }) => [line, field, code])).toEqual([
      [4, "applies_to_invoice", "conditional_required"],
      [5, "invoice_date", "format"],
      [6, "document_number", "required"],
    ]);
    expect(rejects[1]?.message).toMatch(/document_type .*; denomination /);
    expect((await call("GET", documentAt("T-1"))).body.document_type).toBe("credit_note");
    await run(document("T-2", { document_type: 1, denomination: 1, status: "closed" }));
    expect(await statusOf("T-2")).toBe("open");
  });

  it("takes an unknown account, unless the tenant asks for known ones", async () => {
    await setTenant({ store: at().store }, "acme", ["requireKnownAccount=true"]);
    await importRecords(
      at(),
      "acme",
      "accounts",
      ndjson({ account_number: "K-1", name: "K", currency: "USD" }),
      NDJSON,
    );
    const { rejects } = await run(
      document("K-1", { account_number: "K-1" }),
      document("K-2", { account_number: "nobody" }),
    );
    await setTenant({ store: at().store }, "acme", ["requireKnownAccount=false"]);
    expect(rejects.map(({ line, field, code }) => [line, field, code])).toEqual([
      [2, "account_number", "unknown_reference"],
    ]);
    expect((await run(document("K-2", { account_number: "nobody" }))).counts.written).toBe(1);
  });

  it("writes nothing of what the API wrote alike", async () => {
    const { document_number: number, ...body } = document("S-1", { denomination: 5.1 });
    expect((await call("PUT", documentAt(number), { body })).status).toBe(201);
    expect((await run(document("S-1", { denomination: 5.1 }))).counts.unchanged).toBe(1);
  });
});

onEveryStore("import of closures", (at) => {
  let call: Caller;
  beforeAll(async () => {
    call = await ingestTenant(at(), "acme");
  });
  const run = (...rows: object[]) =>
    importRecords(at(), "acme", "closures", ndjson(...rows), NDJSON);

  verifies("ID-14");
  it("closes once: the same again is unchanged, another reason or day is refused", async () => {
    const numbers = ["C-1", "C-2", "C-3"];
    await importRecords(
      at(),
      "acme",
      "documents",
      ndjson(
        ...numbers.map((number) => document(number, { denomination: 9 })),
        document("C-0", { denomination: 0 }),
      ),
      NDJSON,
    );
    const paid = { document_number: "C-1", closure_reason: "paid", closure_date: "2026-02-01" };
    const rows = [
      paid,
      paid,
      { ...paid, closure_date: "2026-02-02" },
      { ...paid, closure_reason: "other" },
      { document_number: "C-2", closure_reason: "write_off", notes: "Too small" },
      { document_number: "C-2", closure_reason: "write_off" },
      { document_number: "C-0", closure_reason: "paid" },
      { document_number: "nowhere", closure_reason: "paid" },
      { document_number: "C-3", closure_reason: "lost", closure_date: "2099-01-01" },
      { document_number: "C-3" },
    ];
    const { counts, rejects } = await run(...rows);
    expect(counts).toEqual({ ...NONE, read: 10, written: 2, unchanged: 2, rejected: 6 });
    expect(rejects.map(({ line, field, code }) => [line, field, code])).toEqual([
      [3, "document_number", "document_already_closed"],
      [4, "document_number", "document_already_closed"],
      [7, "document_number", "document_already_closed"],
      [8, "document_number", "document_not_found"],
      [9, "closure_reason", "enum"],
      [10, "closure_reason", "required"],
    ]);
    expect(rejects[4]?.message).toMatch(/; also closure_date must not be after/);
    expect(rejects.map(({ message }) => message)).toMatchObject([
      expect.stringContaining("another day"),
      expect.stringContaining("another reason"),
      expect.stringContaining("closed by itself"),
      ...rejects.slice(3).map(() => expect.any(String)),
    ]);
    const closures = await listClosures(at().store.read, "acme", "C-2");
    expect(closures).toMatchObject([
      {
        closure_reason: "write_off",
        closed_at: at().clock(),
        notes: "Too small",
        source: "import",
      },
    ]);
    at().clock.advance(DAY);
    expect((await run(...rows)).counts).toMatchObject({ written: 0, unchanged: 4 });
  });

  it("closes what was reopened, once more", async () => {
    const closure = { document_number: "C-1", closure_reason: "paid", closure_date: "2026-02-20" };
    await call("PATCH", documentAt("C-1"), { body: { denomination: 4 } });
    expect((await run(closure)).counts.written).toBe(1);
    expect((await run(closure)).counts.unchanged).toBe(1);
    expect(await listClosures(at().store.read, "acme", "C-1")).toHaveLength(2);
  });

  verifies("D-CONF-8");
  it("closes the disputes on a document where the tenant has chosen a resolution for it", async () => {
    const admin = await at().tenant("linked");
    const { reason } = await configure(admin);
    const { store, clock } = at();
    const setting = { tenantId: "linked", code: "CREDIT", value: true };
    await setApplyWhenInvoiceClosed({ store, clock }, setting);
    for (const documentNumber of ["D-1", "D-2", "D-3"]) {
      const body = { amount: 5, accountNumber: "A-1", documentNumber, reasonId: reason.reasonId };
      expect((await admin.call("POST", DISPUTES, { body })).status).toBe(201);
    }
    await importRecords(
      at(),
      "linked",
      "documents",
      ndjson(
        document("D-1", { denomination: 5 }),
        document("D-2", { denomination: 0 }),
        document("D-3"),
      ),
      NDJSON,
    );
    await importRecords(
      at(),
      "linked",
      "closures",
      ndjson({ document_number: "D-1", closure_reason: "paid" }),
      NDJSON,
    );
    const { body } = await admin.call("GET", `${CONFIGURATION}/disputes`);
    const status = new Map(
      body.map((one: Record<string, unknown>) => [one["documentNumber"], one["status"]]),
    );
    expect([...status].toSorted()).toEqual([
      ["D-1", 1],
      ["D-2", 1],
      ["D-3", 0],
    ]);
  });
});
