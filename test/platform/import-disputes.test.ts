import { beforeAll, expect, it } from "vitest";
import { DAY, iso, MINUTE } from "../../src/kit/clock.ts";
import { setRoute } from "../../src/platform/admin/routes.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import { importDisputes, importRecords } from "../support/importing.ts";
import { disputesOf, invoices, ledgerCsv, ledgerMap } from "../support/ledger.ts";
import {
  CONFIGURATION,
  configure,
  DISPUTES,
  onEveryStore,
  type Person,
} from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

type Dispute = Record<string, unknown> & { disputeId: string; disputeCode: string };

const listed = async (who: Person, query = ""): Promise<Dispute[]> =>
  (await who.call("GET", `${DISPUTES}${query}`)).body;

const one = async (who: Person, documentNumber: string): Promise<Dispute> => {
  const [dispute, ...others] = await listed(who, `?DocumentNumber=${documentNumber}`);
  if (dispute === undefined || others.length > 0) throw new Error(`no single ${documentNumber}`);
  return dispute;
};

const csv = (...rows: Record<string, string | number>[]): string => {
  const columns = [...new Set(rows.flatMap(Object.keys))];
  const lines = rows.map((row) => columns.map((name) => row[name] ?? "").join(","));
  return [columns.join(","), ...lines].join("\n");
};

const NONE = { read: 0, written: 0, unchanged: 0, skipped: 0, rejected: 0 };

onEveryStore("import of a ledger", (at) => {
  const SEEN = "2025-08-15";
  const ledger = invoices(11, 400);
  const { seen, open } = disputesOf(ledger, SEEN);
  const how = { map: ledgerMap(SEEN), createConfiguration: true };
  let admin: Person;
  beforeAll(async () => {
    admin = await at().tenant("ledger");
  });

  it("makes a dispute of each row that the map keeps, as it stood on the day", async () => {
    expect(open.length).toBeGreaterThan(5);
    expect(seen.length).toBeGreaterThan(open.length + 20);
    const { counts, rejects } = await importDisputes(at(), "ledger", ledgerCsv(ledger), how);
    expect(rejects).toEqual([]);
    const skipped = ledger.length - seen.length;
    expect(counts).toEqual({ ...NONE, read: ledger.length, written: seen.length, skipped });
    const all = await listed(admin);
    expect(all).toHaveLength(seen.length);
    const stillOpen = (await listed(admin, "?Status=0")).map(
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
        closedDate: isOpen ? null : iso(settled),
        createDate: iso(invoiced),
        disputeCode: `D-${number}-01`,
        categoryName: "LEDGER",
        reasonName: "DISPUTED",
        originSystem: "import",
        createUser: "import",
        updateUser: "import",
        updateDate: iso(at().clock()),
      });
    }
  });

  it("changes nothing when it runs again", async () => {
    const before = await listed(admin);
    at().clock.advance(MINUTE);
    const { counts } = await importDisputes(at(), "ledger", ledgerCsv(ledger), how);
    const skipped = ledger.length - seen.length;
    expect(counts).toEqual({ ...NONE, read: ledger.length, unchanged: seen.length, skipped });
    expect(await listed(admin)).toEqual(before);
  });

  it("closes on a later day what was settled since, and keeps what people did meanwhile", async () => {
    const later = "2025-08-25";
    const after = disputesOf(ledger, later);
    const [worked] = after.open.filter((invoice) => open.includes(invoice));
    const settled = open.filter((invoice) => !after.open.includes(invoice));
    if (worked === undefined || settled[0] === undefined) throw new Error("choose other days");
    const mine = await one(admin, worked.number);
    await admin.call("PUT", `${DISPUTES}/${mine.disputeId}`, {
      body: { status: 1, poNumber: "X" },
    });
    const before = await one(admin, settled[0].number);
    const { counts } = await importDisputes(at(), "ledger", ledgerCsv(ledger), {
      map: ledgerMap(later),
    });
    const fresh = after.seen.length - seen.length;
    expect(counts).toMatchObject({ written: settled.length + fresh, rejected: 0 });
    expect(await one(admin, worked.number)).toMatchObject({ status: 1, poNumber: "X" });
    const { disputeId, disputeCode } = before;
    expect(await one(admin, settled[0].number)).toMatchObject({
      disputeId,
      disputeCode,
      status: 1,
      closedDate: iso(settled[0].settled),
      createUser: "import",
    });
    const totals = await admin.call("GET", `${DISPUTES}?Status=0&PageSize=1`);
    expect(Number(totals.headers.get("x-total-count"))).toBe(after.open.length - 1);
  });

  it("writes no entry into the audit log", async () => {
    const auditor = await at().exportCaller("ledger");
    const { body } = await auditor("GET", "/api/v1/remittance-export/audit-logs");
    expect(body.data).toEqual([]);
  });

  it("shows nothing to another tenant", async () => {
    const other = await at().tenant("other");
    expect(await listed(other)).toEqual([]);
    const { counts } = await importDisputes(at(), "other", ledgerCsv(ledger), how);
    expect(counts.written).toBe(seen.length);
    expect(await listed(admin)).toHaveLength(disputesOf(ledger, "2025-08-25").seen.length);
  });
});

onEveryStore("import of disputes, field by field", (at) => {
  let admin: Person;
  const base = { accountNumber: "A-1", amount: "10.50", reasonCode: "WRONG" };
  const add = (...rows: Record<string, string | number>[]) =>
    importDisputes(at(), "fields", csv(...rows));
  /** The first fault of a row that is refused. */
  const faultOf = async (row: Record<string, string | number>) => {
    const { counts, rejects } = await add({ ...base, documentNumber: "BAD", ...row });
    expect(counts).toMatchObject({ read: 1, rejected: 1 });
    return [rejects[0]?.field, rejects[0]?.code];
  };
  beforeAll(async () => {
    admin = await at().tenant("fields");
    await configure(admin);
    const make = (path: string, body: object) =>
      admin.call("POST", `${CONFIGURATION}${path}`, { body });
    await make("/categories", { code: "FREIGHT", description: "Freight" });
    await make("/reasons", { code: "LATE", description: "Late", categoryCode: "FREIGHT" });
    await make("/reasons", { code: "late", description: "Late price", categoryCode: "PRICE" });
    await make("/resolutions", { code: "DENIED", description: "Denied", isValid: false });
  });

  it("takes every field", async () => {
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
    expect(await one(admin, "FULL")).toMatchObject({
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

  it("fills in what is blank: open, now, the tenant's currency, nobody", async () => {
    await add({ ...base, documentNumber: "BARE" });
    const now = iso(at().clock());
    expect(await one(admin, "BARE")).toMatchObject({
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
  it("takes the currency of its document, else its account's, where the row has none", async () => {
    const dates = { invoice_date: "2026-01-31", due_date: "2026-03-02" };
    const of = (document_number: string, more: object = {}) => ({
      document_number,
      account_number: "CUR",
      ...dates,
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
    const found = ["CUR-1", "CUR-2", "CUR-3", "CUR-4"].map((number) => one(admin, number));
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
  it("needs the document to be there where the tenant says so", async () => {
    const set = (value: boolean) =>
      setTenant({ store: at().store }, "fields", [`requireKnownDocument=${value}`]);
    await set(true);
    expect(await faultOf({})).toEqual(["documentNumber", "unknown_reference"]);
    await set(false);
    expect(await listed(admin, "?DocumentNumber=BAD")).toEqual([]);
  });

  it("closes at the moment of the import where a closed row has no date, once", async () => {
    const row = { ...base, documentNumber: "NODATE", status: 2 };
    await add(row);
    const closedDate = iso(at().clock());
    expect(await one(admin, "NODATE")).toMatchObject({ status: 2, closedDate });
    at().clock.advance(DAY);
    expect((await add(row)).counts.unchanged).toBe(1);
    expect(await one(admin, "NODATE")).toMatchObject({ status: 2, closedDate });
  });

  it.each([
    ["accountNumber", "", "required"],
    ["accountNumber", "x".repeat(129), "too_long"],
    ["accountName", "x".repeat(201), "too_long"],
    ["documentNumber", " ", "required"],
    ["documentNumber", "a\0b", "format"],
    ["amount", "", "required"],
    ["amount", "1.234,50", "type"],
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
    expect(await listed(admin, "?DocumentNumber=BAD")).toEqual([]);
  });

  it("refuses an unknown resolution, and one that goes with no other status than closed", async () => {
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

  it("lands the good rows of a file with faults in every column, and says why the others did not", async () => {
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
        message: "is required",
        row: expect.objectContaining({ documentNumber: "F-1", amount: "10.50" }),
      },
      expect.objectContaining({
        line: 4,
        field: "amount",
        code: "type",
        message: expect.stringMatching(/^must be a number; also status must be one of/),
      }),
      expect.objectContaining({
        line: 6,
        field: "categoryCode",
        message: "names no category; also assigneeEmail names no assignee",
      }),
    ]);
    for (const document of ["GOOD-1", "GOOD-2", "GOOD-3"]) await one(admin, document);
  });

  it("takes the category's default reason where a row names the category alone", async () => {
    await add({
      accountNumber: "A-1",
      amount: 1,
      documentNumber: "DEFAULT",
      categoryCode: "PRICE",
    });
    expect(await one(admin, "DEFAULT")).toMatchObject({ reasonName: "Wrong price" });
    expect(await faultOf({ reasonCode: "", categoryCode: "FREIGHT" })).toEqual([
      "reasonCode",
      "required",
    ]);
    await add({ ...base, documentNumber: "TOLD", categoryCode: "freight", reasonCode: "late" });
    expect(await one(admin, "TOLD")).toMatchObject({ categoryName: "Freight", reasonName: "Late" });
  });

  it("routes an open dispute of nobody to whoever gets its category's", async () => {
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
    expect(await one(admin, "ROUTED")).toMatchObject({ assigneeName: "Ana Silva" });
    expect(await one(admin, "PAST")).toMatchObject({ assigneeName: null });
  });

  it("counts the disputes of a document on, also those of people and of one file", async () => {
    await admin.call("POST", DISPUTES, {
      body: { amount: 1, accountNumber: "A-1", documentNumber: "MANY", reasonCode: "WRONG" },
    });
    const many = { ...base, documentNumber: "MANY" };
    await add({ ...many, createDate: "2026-01-01" }, { ...many, createDate: "2026-01-02" });
    const codes = (await listed(admin, "?DocumentNumber=MANY&Sort=DisputeCode")).map(
      ({ disputeCode }) => disputeCode,
    );
    expect(codes).toEqual(["D-MANY-01", "D-MANY-02", "D-MANY-03"]);
    const next = await admin.call("POST", DISPUTES, {
      body: { amount: 1, accountNumber: "A-1", documentNumber: "MANY", reasonCode: "WRONG" },
    });
    expect(next.body.disputeCode).toBe("D-MANY-04");
  });

  it("names columns that it does not know", async () => {
    const { ignored } = await add({ ...base, documentNumber: "IGNORED", amout: 1, note: "x" });
    expect(ignored).toEqual(["amout", "note"]);
  });
});

onEveryStore("import of disputes that are known", (at) => {
  let admin: Person;
  const base = { accountNumber: "A-1", documentNumber: "", amount: 10, reasonCode: "WRONG" };
  const bring = async (row: Record<string, string | number>) => {
    const map = Object.fromEntries(Object.keys(row).map((name) => [name, name]));
    const sourceKey = "documentNumber";
    const { counts, rejects } = await importDisputes(at(), "known", csv(row), {
      map: { ...map, sourceKey },
    });
    expect(rejects).toEqual([]);
    return counts;
  };
  const change = (dispute: Dispute, body: object) =>
    admin.call("PUT", `${DISPUTES}/${dispute.disputeId}`, { body });
  beforeAll(async () => {
    admin = await at().tenant("known");
    await configure(admin);
  });

  it("changes the dispute of a row whose key is known, which keeps its id, code and version", async () => {
    const row = { ...base, documentNumber: "K-1" };
    await bring({ ...row, poNumber: "P-1" });
    const before = await one(admin, "K-1");
    const etag = (await admin.call("GET", `${DISPUTES}/${before.disputeId}`)).headers.get("etag");
    at().clock.advance(MINUTE);
    expect(await bring({ ...row, amount: 12, poNumber: "" })).toMatchObject({ written: 1 });
    const after = await one(admin, "K-1");
    expect(after).toEqual({ ...before, amount: 12, updateDate: iso(at().clock()) });
    const { headers } = await admin.call("GET", `${DISPUTES}/${before.disputeId}`);
    expect(headers.get("etag")).not.toBe(etag);
  });

  it("opens, closes and cancels as the source does", async () => {
    const row = { ...base, documentNumber: "K-2" };
    const steps = [
      [{ status: 1, closedDate: "2026-01-09", resolutionCode: "CREDIT" }, true, "2026-01-09"],
      [{ status: 0 }, false, null],
      [{ status: 2, closedDate: "2026-01-11" }, false, "2026-01-11"],
      [{ status: 1, closedDate: "2026-01-12" }, false, "2026-01-12"],
      [{ status: 1, closedDate: "2026-01-13", resolutionCode: "CREDIT" }, true, "2026-01-13"],
    ] as const;
    for (const [said, isValid, day] of steps) {
      expect(await bring({ ...row, ...said })).toMatchObject({ written: 1 });
      expect(await one(admin, "K-2")).toMatchObject({
        status: said.status,
        isValid,
        closedDate: day === null ? null : `${day}T00:00:00.000Z`,
        resolutionCode: "resolutionCode" in said ? "CREDIT" : null,
      });
    }
  });

  it("writes what the source changed, not what people changed", async () => {
    const row = { ...base, documentNumber: "K-3", poNumber: "P-1", status: 0 };
    await bring(row);
    const dispute = await one(admin, "K-3");
    await change(dispute, { amount: 7, assigneeEmail: "ana@sales.example", poNumber: "MINE" });
    await change(dispute, { status: 1, resolutionCode: "CREDIT" });
    const worked = await one(admin, "K-3");
    expect(await bring(row)).toMatchObject({ unchanged: 1 });
    expect(await one(admin, "K-3")).toEqual(worked);
    expect(await bring({ ...row, poNumber: "P-2" })).toMatchObject({ written: 1 });
    expect(await one(admin, "K-3")).toMatchObject({
      amount: 7,
      assigneeName: "Ana Silva",
      status: 1,
      resolutionCode: "CREDIT",
      poNumber: "P-2",
    });
  });

  it("counts a dispute as unchanged where people did already what the source says now", async () => {
    const row = { ...base, documentNumber: "K-4" };
    await bring(row);
    const dispute = await one(admin, "K-4");
    await change(dispute, { amount: 9 });
    const before = await one(admin, "K-4");
    at().clock.advance(MINUTE);
    expect(await bring({ ...row, amount: 9 })).toMatchObject({ unchanged: 1 });
    expect(await one(admin, "K-4")).toEqual(before);
    expect(await bring({ ...row, amount: 10 })).toMatchObject({ written: 1 });
  });

  it("brings back a dispute that was deleted, with a code of its own", async () => {
    const row = { ...base, documentNumber: "K-5" };
    await bring(row);
    const { disputeId } = await one(admin, "K-5");
    await admin.call("DELETE", `${DISPUTES}/${disputeId}`);
    expect(await bring(row)).toMatchObject({ written: 1 });
    expect(await one(admin, "K-5")).toMatchObject({ disputeCode: "D-K-5-02" });
  });

  it("is known without a source key by account, document and the date that its row gives", async () => {
    const row = { accountNumber: "A-1", documentNumber: "K-6", amount: 1, reasonCode: "WRONG" };
    const add = (...rows: Record<string, string | number>[]) =>
      importDisputes(at(), "known", csv(...rows));
    const dated = { ...row, createDate: "2026-01-01" };
    const { counts } = await add(row, dated, { ...dated, createDate: "2026-01-01T00:00:00Z" });
    expect(counts).toMatchObject({ written: 2, unchanged: 1 });
    at().clock.advance(DAY);
    expect((await add(row, dated)).counts).toMatchObject({ unchanged: 2 });
    expect((await add({ ...row, accountNumber: "A-2" })).counts).toMatchObject({ written: 1 });
    expect(await listed(admin, "?DocumentNumber=K-6")).toHaveLength(3);
  });

  it("takes the last of equal keys within a file", async () => {
    const row = { ...base, documentNumber: "K-7" };
    const { counts } = await importDisputes(
      at(),
      "known",
      csv({ ...row, amount: 1 }, { ...row, amount: 2 }, { ...row, amount: 2 }),
    );
    expect(counts).toMatchObject({ written: 2, unchanged: 1 });
    expect(await one(admin, "K-7")).toMatchObject({ amount: 2, disputeCode: "D-K-7-01" });
  });

  it("knows a row by a key of any length", async () => {
    const long = { ...base, documentNumber: "K-8" };
    const map = {
      ...Object.fromEntries(Object.keys(base).map((name) => [name, name])),
      sourceKey: ["documentNumber", "note"],
    };
    const row = { ...long, note: "n".repeat(5000) };
    expect((await importDisputes(at(), "known", csv(row), { map })).counts.written).toBe(1);
    expect((await importDisputes(at(), "known", csv(row), { map })).counts.unchanged).toBe(1);
    const other = { ...long, note: `${"n".repeat(4999)}m` };
    expect((await importDisputes(at(), "known", csv(other), { map })).counts.written).toBe(1);
  });
});

onEveryStore("import of disputes into a tenant without configuration", (at) => {
  const row = { accountNumber: "A", documentNumber: "D", amount: 5 };
  const add = (tenantId: string, text: string, createConfiguration = true) =>
    importDisputes(at(), tenantId, text, { createConfiguration });
  const list = async (who: Person, path: string) =>
    (await who.call("GET", `${CONFIGURATION}${path}`)).body;

  it("creates what rows name, where it is told to", async () => {
    const admin = await at().tenant("empty");
    const file = csv(
      { ...row, documentNumber: "1", categoryCode: "Price", reasonCode: "R1" },
      { ...row, documentNumber: "2", categoryCode: "PRICE", reasonCode: "R2" },
      { ...row, documentNumber: "3", categoryCode: "Freight", reasonCode: "R1" },
      { ...row, documentNumber: "4", categoryCode: "price", reasonCode: "" },
    );
    expect((await add("empty", file, false)).counts).toMatchObject({ rejected: 4 });
    expect(await list(admin, "/categories")).toEqual([]);
    expect((await add("empty", file)).counts).toMatchObject({ written: 4, rejected: 0 });
    expect(await list(admin, "/categories")).toMatchObject([
      { code: "Freight", description: "Freight", defaultInternalReasonCode: "R1" },
      {
        code: "Price",
        description: "Price",
        defaultInternalReasonCode: "R1",
        createUser: "import",
      },
    ]);
    const reasons = await list(admin, "/reasons");
    expect(reasons).toHaveLength(3);
    expect(reasons[0]).toMatchObject({ description: "R1", visibility: "Internal", active: true });
    expect(await one(admin, "4")).toMatchObject({ categoryName: "Price", reasonName: "R1" });
  });

  it("creates nothing for a row that is refused, or that does not say enough", async () => {
    const admin = await at().tenant("sparse");
    const { counts, rejects } = await add(
      "sparse",
      csv(
        { ...row, categoryCode: "NEW", reasonCode: "R", amount: 0 },
        { ...row, categoryCode: "NEW", reasonCode: "R", assigneeEmail: "no@body.example" },
        { ...row, categoryCode: "NEW", reasonCode: "" },
        { ...row, categoryCode: "", reasonCode: "R" },
        { ...row, categoryCode: "", reasonCode: "" },
      ),
    );
    expect(counts).toMatchObject({ written: 0, rejected: 5 });
    expect(rejects.map(({ field, code }) => [field, code])).toEqual([
      ["amount", "range"],
      ["assigneeEmail", "unknown_reference"],
      ["reasonCode", "required"],
      ["categoryCode", "required"],
      ["reasonCode", "required"],
    ]);
    expect(await list(admin, "/categories")).toEqual([]);
  });

  it("leaves the default reason of a category that was there", async () => {
    const admin = await at().tenant("there");
    const body = { code: "C", description: "Mine" };
    await admin.call("POST", `${CONFIGURATION}/categories`, { body });
    await add("there", csv({ ...row, categoryCode: "c", reasonCode: "R" }));
    expect(await list(admin, "/categories")).toMatchObject([
      { code: "C", description: "Mine", defaultInternalReasonId: null },
    ]);
  });
});

onEveryStore("import as a whole", (at) => {
  let admin: Person;
  beforeAll(async () => {
    admin = await at().tenant("whole");
    await configure(admin);
  });
  const rows = (from: number, count: number) =>
    csv(
      ...Array.from({ length: count }, (_, place) => ({
        accountNumber: "A",
        documentNumber: `W-${from + place}`,
        amount: 1,
        reasonCode: "WRONG",
      })),
    );

  it("reads NDJSON, whose numbers are numbers", async () => {
    const base = { accountNumber: "A", documentNumber: "N-1", amount: 5.5, reasonCode: "WRONG" };
    const lines = [
      { ...base, status: 1, closedDate: null, unknown: { a: 1 } },
      { ...base, documentNumber: "N-2", amount: "5.5" },
      { ...base, documentNumber: 3 },
    ].map((line) => JSON.stringify(line));
    const exact =
      '{"accountNumber":"A","documentNumber":"N-4","amount":1.0000000000000001,"reasonCode":"WRONG"}';
    const { counts, rejects } = await importDisputes(
      at(),
      "whole",
      [...lines, "{", exact].join("\n"),
      { format: "ndjson" },
    );
    expect(counts).toEqual({ ...NONE, read: 5, written: 1, rejected: 4 });
    expect(rejects).toMatchObject([
      { line: 2, field: "amount", code: "type", row: { documentNumber: "N-2" } },
      { line: 3, field: "documentNumber", code: "type" },
      { line: 4, field: "", code: "invalid_json", row: "{" },
      { line: 5, field: "amount", code: "type" },
    ]);
    expect(await one(admin, "N-1")).toMatchObject({ amount: 5.5, status: 1 });
  });

  it("tells how far it has come, a batch at a time", async () => {
    const { progress, counts } = await importDisputes(at(), "whole", rows(0, 1100));
    expect(progress.map(({ read }) => read)).toEqual([500, 1000, 1100]);
    expect(counts).toMatchObject({ read: 1100, written: 1100 });
  });

  it("stops between batches when it is told to, and goes on when it is run again", async () => {
    const ended = AbortSignal.abort();
    const text = rows(2000, 700);
    await expect(importDisputes(at(), "whole", text, { ended })).rejects.toThrow(/500 rows/);
    const { counts } = await importDisputes(at(), "whole", text);
    expect(counts).toMatchObject({ read: 700, written: 200, unchanged: 500 });
  });

  it("lets several processes import one file at once", async () => {
    const text = rows(4000, 600);
    const both = await Promise.all([1, 2].map(() => importDisputes(at(), "whole", text)));
    const [a, b] = both.map(({ counts }) => counts);
    expect((a?.written ?? 0) + (b?.written ?? 0)).toBe(600);
    expect((a?.unchanged ?? 0) + (b?.unchanged ?? 0)).toBe(600);
  });
});
