import { beforeAll, expect, it } from "vitest";
import { DAY, formatTimestamp, MINUTE } from "../../src/kit/clock.ts";
import { setRoute } from "../../src/platform/admin/routes.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import {
  importDisputes,
  importRecords,
  findDispute,
  listDisputes,
  NONE,
  toCsv,
} from "../support/importing.ts";
import { disputesOf, invoices, ledgerCsv, ledgerMap } from "../support/ledger.ts";
import {
  CONFIGURATION,
  configure,
  DISPUTES,
  onEveryStore,
  useTenant,
} from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("import of a ledger", (at) => {
  const SEEN = "2025-08-15";
  const ledger = invoices(11, 400);
  const { seen, open } = disputesOf(ledger, SEEN);
  const how = { map: ledgerMap(SEEN), createConfiguration: true };
  const admin = useTenant(at, "ledger");

  it("creates a dispute for each row that the map selects, as of the given day", async () => {
    expect(open.length).toBeGreaterThan(5);
    expect(seen.length).toBeGreaterThan(open.length + 20);
    const { counts, rejects } = await importDisputes(at(), "ledger", ledgerCsv(ledger), how);
    expect(rejects).toEqual([]);
    const skipped = ledger.length - seen.length;
    expect(counts).toEqual({ ...NONE, read: ledger.length, written: seen.length, skipped });
    const all = await listDisputes(admin);
    expect(all).toHaveLength(seen.length);
    const stillOpen = (await listDisputes(admin, "?Status=0")).map(
      (dispute) => dispute["documentNumber"],
    );
    expect(stillOpen.toSorted()).toEqual(open.map(({ number }) => number).toSorted());
    const byDocument = new Map(all.map((dispute) => [dispute["documentNumber"], dispute]));
    for (const { number, customer, amount, invoiced, settled } of seen) {
      const isOpen = settled > Date.parse(`${SEEN}T00:00:00Z`);
      expect(byDocument.get(number)).toMatchObject({
        accountNumber: customer,
        amount: Number(amount),
        currencyCode: "USD",
        status: isOpen ? 0 : 1,
        closedDate: isOpen ? null : formatTimestamp(settled),
        createDate: formatTimestamp(invoiced),
        disputeCode: `D-${number}-01`,
        categoryName: "LEDGER",
        reasonName: "DISPUTED",
        originSystem: "import",
        createUser: "import",
        updateUser: "import",
        updateDate: formatTimestamp(at().clock()),
      });
    }
  });

  it("changes nothing when it runs again", async () => {
    const before = await listDisputes(admin);
    at().clock.advance(MINUTE);
    const { counts } = await importDisputes(at(), "ledger", ledgerCsv(ledger), how);
    const skipped = ledger.length - seen.length;
    expect(counts).toEqual({ ...NONE, read: ledger.length, unchanged: seen.length, skipped });
    expect(await listDisputes(admin)).toEqual(before);
  });

  it("closes disputes that were settled by a later day, and keeps changes by people", async () => {
    const later = "2025-08-25";
    const after = disputesOf(ledger, later);
    const [worked] = after.open.filter((invoice) => open.includes(invoice));
    const settled = open.filter((invoice) => !after.open.includes(invoice));
    if (worked === undefined || settled[0] === undefined) throw new Error("choose other days");
    const mine = await findDispute(admin, worked.number);
    await admin.call("PUT", `${DISPUTES}/${mine.disputeId}`, {
      body: { status: 1, poNumber: "X" },
    });
    const before = await findDispute(admin, settled[0].number);
    const { counts } = await importDisputes(at(), "ledger", ledgerCsv(ledger), {
      map: ledgerMap(later),
    });
    const fresh = after.seen.length - seen.length;
    expect(counts).toMatchObject({ written: settled.length + fresh, rejected: 0 });
    expect(await findDispute(admin, worked.number)).toMatchObject({ status: 1, poNumber: "X" });
    const { disputeId, disputeCode } = before;
    expect(await findDispute(admin, settled[0].number)).toMatchObject({
      disputeId,
      disputeCode,
      status: 1,
      closedDate: formatTimestamp(settled[0].settled),
      createUser: "import",
    });
    const totals = await admin.call("GET", `${DISPUTES}?Status=0&PageSize=1`);
    expect(Number(totals.headers.get("x-total-count"))).toBe(after.open.length - 1);
  });

  it("writes no audit entry for a row", async () => {
    const auditor = await at().exportCaller("ledger");
    const { body } = await auditor("GET", "/api/v1/remittance-export/audit-logs");
    const actions = (body.data as { action: string }[]).map(({ action }) => action);
    // The one that a person closed in the test before.
    expect(actions.filter((action) => action.startsWith("dispute."))).toEqual(["dispute.closed"]);
  });

  it("shows nothing to another tenant", async () => {
    const other = await at().tenant("other");
    expect(await listDisputes(other)).toEqual([]);
    const { counts } = await importDisputes(at(), "other", ledgerCsv(ledger), how);
    expect(counts.written).toBe(seen.length);
    expect(await listDisputes(admin)).toHaveLength(disputesOf(ledger, "2025-08-25").seen.length);
  });
});

onEveryStore("import of disputes, field by field", (at) => {
  const admin = useTenant(at, "fields");
  const base = { accountNumber: "A-1", amount: "10.50", reasonCode: "WRONG" };
  const add = (...rows: Record<string, string | number>[]) =>
    importDisputes(at(), "fields", toCsv(...rows));
  /** The first fault of a row that is refused. */
  const faultOf = async (row: Record<string, string | number>) => {
    const { counts, rejects } = await add({ ...base, documentNumber: "BAD", ...row });
    expect(counts).toMatchObject({ read: 1, rejected: 1 });
    return [rejects[0]?.field, rejects[0]?.code];
  };
  beforeAll(async () => {
    await configure(admin);
    const make = (path: string, body: object) =>
      admin.call("POST", `${CONFIGURATION}${path}`, { body });
    await make("/categories", { code: "FREIGHT", description: "Freight" });
    await make("/reasons", { code: "LATE", description: "Late", categoryCode: "FREIGHT" });
    await make("/reasons", { code: "late", description: "Late price", categoryCode: "PRICE" });
    await make("/resolutions", { code: "DENIED", description: "Denied", isValid: false });
  });

  it("imports every field", async () => {
    const { rejects } = await add({
      accountNumber: "A-7",
      accountName: "Seven Ltd.",
      documentNumber: "FULL",
      amount: "0012.345",
      currencyCode: "kwd",
      categoryCode: "price",
      reasonCode: "wrong",
      poNumber: "PO 7",
      status: "Closed",
      createDate: "2026-01-05",
      closedDate: "2026-02-01T10:00:00+02:00",
      assigneeEmail: "ANA@sales.example",
      resolutionCode: "credit",
    });
    expect(rejects).toEqual([]);
    expect(await findDispute(admin, "FULL")).toMatchObject({
      accountNumber: "A-7",
      accountName: "Seven Ltd.",
      amount: 12.345,
      currencyCode: "KWD",
      categoryName: "Pricing",
      reasonName: "Wrong price",
      poNumber: "PO 7",
      status: 1,
      createDate: "2026-01-05T00:00:00.000Z",
      closedDate: "2026-02-01T08:00:00.000Z",
      assigneeName: "Ana Silva",
      departmentName: "Sales",
      resolutionCode: "CREDIT",
      isValid: true,
    });
  });

  it("fills blank fields: status Open, the time of the import, the tenant's currency, no assignee", async () => {
    await add({ ...base, documentNumber: "BARE" });
    const now = formatTimestamp(at().clock());
    expect(await findDispute(admin, "BARE")).toMatchObject({
      status: 0,
      createDate: now,
      updateDate: now,
      closedDate: null,
      currencyCode: "USD",
      assigneeId: null,
      accountName: null,
      resolutionCode: null,
      isValid: false,
    });
  });

  verifies("D-DISP-8");
  it("uses the currency of its document, else its account's, if the row has none", async () => {
    const dates = { invoice_date: "2026-01-31", due_date: "2026-03-02" };
    const of = (document_number: string, more: object = {}) => ({
      document_number,
      account_number: "CUR",
      ...dates,
      denomination: 5,
      ...more,
    });
    const lines = (...rows: object[]) => rows.map((row) => JSON.stringify(row)).join("\n");
    const records = (kind: "accounts" | "documents", ...rows: object[]) =>
      importRecords(at(), "fields", kind, lines(...rows), { format: "ndjson" });
    await records("accounts", { account_number: "CUR", name: "Currency", currency: "EUR" });
    await records("documents", of("CUR-1", { original_currency: "JPY" }), of("CUR-2"));
    const row = (documentNumber: string, more: Record<string, string> = {}) => ({
      ...base,
      accountNumber: "CUR",
      documentNumber,
      amount: "5",
      ...more,
    });
    const own = row("CUR-4", { currencyCode: "KWD" });
    expect((await add(row("CUR-1"), row("CUR-2"), row("CUR-3"), own)).rejects).toEqual([]);
    const found = ["CUR-1", "CUR-2", "CUR-3", "CUR-4"].map((number) => findDispute(admin, number));
    expect((await Promise.all(found)).map(({ currencyCode }) => currencyCode)).toEqual([
      "JPY",
      "EUR",
      "EUR",
      "KWD",
    ]);
    expect((await add(row("CUR-1"))).counts.unchanged).toBe(1);
    const yen = await add(row("CUR-1", { createDate: "2026-01-05", amount: "5.5" }));
    expect(yen.rejects).toMatchObject([{ field: "amount", code: "format" }]);
    const other = await add({ ...row("CUR-1"), accountNumber: "A-1" });
    expect(other.rejects).toMatchObject([{ field: "documentNumber", code: "mismatch" }]);
  });

  verifies("D-DISP-9");
  it("requires the document to exist if the tenant does", async () => {
    const set = (value: boolean) =>
      setTenant({ store: at().store }, "fields", [`requireKnownDocument=${value}`]);
    await set(true);
    expect(await faultOf({})).toEqual(["documentNumber", "unknown_reference"]);
    await set(false);
    expect(await listDisputes(admin, "?DocumentNumber=BAD")).toEqual([]);
  });

  it("closes at the time of the first import if a closed row has no date", async () => {
    const row = { ...base, documentNumber: "NODATE", status: 2 };
    await add(row);
    const closedDate = formatTimestamp(at().clock());
    expect(await findDispute(admin, "NODATE")).toMatchObject({ status: 2, closedDate });
    at().clock.advance(DAY);
    expect((await add(row)).counts.unchanged).toBe(1);
    expect(await findDispute(admin, "NODATE")).toMatchObject({ status: 2, closedDate });
  });

  it.each([
    ["accountNumber", "", "required"],
    ["accountNumber", "x".repeat(129), "too_long"],
    ["accountName", "x".repeat(201), "too_long"],
    ["documentNumber", " ", "required"],
    ["documentNumber", "a\0b", "format"],
    ["amount", "", "required"],
    ["amount", "1.234.50", "type"],
    ["amount", "1e3", "type"],
    ["amount", "0", "range"],
    ["amount", "-5", "range"],
    ["amount", "5.001", "format"],
    ["amount", "1234567890123.456", "type"],
    ["currencyCode", "DOLLAR", "format"],
    ["categoryCode", "NOPE", "unknown_reference"],
    ["categoryCode", "a/b", "format"],
    ["reasonCode", "NOPE", "unknown_reference"],
    ["reasonCode", "", "required"],
    ["reasonCode", "LATE", "ambiguous_reason_code"],
    ["reasonCode", "CUST-PRICE", "visibility"],
    ["poNumber", "x".repeat(129), "too_long"],
    ["status", "3", "enum"],
    ["status", "done", "enum"],
    ["createDate", "1/2/2026", "format"],
    ["createDate", "2026-02-30", "format"],
    ["createDate", "2026-02-03T10:00:00", "format"],
    ["closedDate", "soon", "format"],
    ["closedDate", "2026-01-01", "conflict"],
    ["assigneeEmail", "nobody@sales.example", "unknown_reference"],
    ["assigneeEmail", "nobody", "format"],
    ["resolutionCode", "CREDIT", "conflict"],
  ])("refuses %s %j as %s", async (field, value, code) => {
    // A comma would be a cell of its own.
    const cell = value.includes(",") ? `"${value}"` : value;
    expect(await faultOf({ [field]: cell })).toEqual([field, code]);
    expect(await listDisputes(admin, "?DocumentNumber=BAD")).toEqual([]);
  });

  it("refuses an unknown resolution, and a resolution with another status than closed", async () => {
    expect(await faultOf({ status: 1, resolutionCode: "NOPE" })).toEqual([
      "resolutionCode",
      "unknown_reference",
    ]);
    expect(await faultOf({ status: 2, resolutionCode: "CREDIT" })).toEqual([
      "resolutionCode",
      "conflict",
    ]);
    expect(await faultOf({ amount: "100.5", currencyCode: "JPY" })).toEqual(["amount", "format"]);
  });

  it("imports the valid rows of a file with faults in every column, and explains the others", async () => {
    const good = (documentNumber: string) => ({ ...base, documentNumber });
    const { counts, rejects } = await add(
      good("GOOD-1"),
      { ...good("F-1"), accountNumber: "" },
      { ...good("F-2"), amount: "many", status: "odd", assigneeEmail: "x@y.example" },
      good("GOOD-2"),
      { ...good("F-3"), categoryCode: "NOPE", assigneeEmail: "x@y.example" },
      good("GOOD-3"),
    );
    expect(counts).toEqual({ ...NONE, read: 6, written: 3, rejected: 3 });
    expect(rejects).toEqual([
      {
        line: 3,
        field: "accountNumber",
        code: "required",
        message: 'is required (column "accountNumber", blank)',
        row: expect.objectContaining({ documentNumber: "F-1", amount: "10.50" }),
      },
      expect.objectContaining({
        line: 4,
        field: "amount",
        message: expect.stringMatching(/^must be a number such as .*column "amount", value "many"/),
      }),
      expect.objectContaining({
        line: 6,
        message: expect.stringMatching(
          /^names no category \(column "categoryCode", value "NOPE"\); also assigneeEmail names no assignee/,
        ),
      }),
    ]);
    for (const document of ["GOOD-1", "GOOD-2", "GOOD-3"]) await findDispute(admin, document);
  });

  it("uses the category's default reason if a row names only the category", async () => {
    await add({
      accountNumber: "A-1",
      amount: 1,
      documentNumber: "DEFAULT",
      categoryCode: "PRICE",
    });
    expect(await findDispute(admin, "DEFAULT")).toMatchObject({ reasonName: "Wrong price" });
    expect(await faultOf({ reasonCode: "", categoryCode: "FREIGHT" })).toEqual([
      "reasonCode",
      "required",
    ]);
    await add({ ...base, documentNumber: "TOLD", categoryCode: "freight", reasonCode: "late" });
    expect(await findDispute(admin, "TOLD")).toMatchObject({
      categoryName: "Freight",
      reasonName: "Late",
    });
  });

  it("assigns an open dispute without assignee to the default assignee of its category", async () => {
    await setRoute(at(), {
      tenantId: "fields",
      category: "FREIGHT",
      assignee: "ana@sales.example",
    });
    const freight = { ...base, categoryCode: "FREIGHT", reasonCode: "LATE" };
    await add(
      { ...freight, documentNumber: "ROUTED" },
      { ...freight, documentNumber: "PAST", status: 1, closedDate: "2026-01-01" },
    );
    expect(await findDispute(admin, "ROUTED")).toMatchObject({ assigneeName: "Ana Silva" });
    expect(await findDispute(admin, "PAST")).toMatchObject({ assigneeName: null });
  });

  it("continues the numbers of a document's disputes, also those created by people", async () => {
    await admin.call("POST", DISPUTES, {
      body: { amount: 1, accountNumber: "A-1", documentNumber: "MANY", reasonCode: "WRONG" },
    });
    const many = { ...base, documentNumber: "MANY" };
    await add({ ...many, createDate: "2026-01-01" }, { ...many, createDate: "2026-01-02" });
    const codes = (await listDisputes(admin, "?DocumentNumber=MANY&Sort=DisputeCode")).map(
      ({ disputeCode }) => disputeCode,
    );
    expect(codes).toEqual(["D-MANY-01", "D-MANY-02", "D-MANY-03"]);
    const next = await admin.call("POST", DISPUTES, {
      body: { amount: 1, accountNumber: "A-1", documentNumber: "MANY", reasonCode: "WRONG" },
    });
    expect(next.body.disputeCode).toBe("D-MANY-04");
  });

  it("reports unknown columns", async () => {
    const { ignored } = await add({ ...base, documentNumber: "IGNORED", amout: 1, note: "x" });
    expect(ignored).toEqual(["amout", "note"]);
  });
});
