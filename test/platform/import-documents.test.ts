import { expect, it } from "vitest";
import { DAY } from "../../src/kit/clock.ts";
import { setApplyWhenInvoiceClosed } from "../../src/platform/admin/resolutions.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import { listClosuresOf } from "../../src/platform/store/queries/documents.ts";
import { importRecords, NONE } from "../support/importing.ts";
import { documentAt, useIngestTenant } from "../support/ingest.ts";
import { CONFIGURATION, configure, DISPUTES, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const NDJSON = { format: "ndjson" as const };

const ndjson = (...rows: object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");

const DATES = { invoice_date: "2026-01-31", due_date: "2026-03-02" };

const document = (number: string, more: object = {}) => ({
  document_number: number,
  account_number: "A-1",
  ...DATES,
  denomination: 12.5,
  ...more,
});

onEveryStore("import of documents", (at) => {
  const call = useIngestTenant(at, "acme");
  const run = (...rows: object[]) =>
    importRecords(at(), "acme", "documents", ndjson(...rows), NDJSON);
  const statusOf = async (number: string): Promise<string> =>
    (await call("GET", documentAt(number))).body.status;

  verifies("ID-08");
  it("closes documents without an open amount, and reopens those with one", async () => {
    const { counts } = await run(
      document("Z-1", { denomination: 0 }),
      document("Z-2", { denomination_in_base_currency: 0, denomination: 5 }),
      document("Z-3", { denomination: -3 }),
      document("Z-4", { denomination: 5 }),
      document("Z-5", { denomination: 0 }),
    );
    expect(counts).toEqual({ ...NONE, read: 5, written: 5 });
    await run(document("Z-4", { denomination: 0 }), document("Z-5", { denomination: 1 }));
    await run(document("Z-5", { denomination: 0 }));
    const numbers = ["Z-1", "Z-2", "Z-3", "Z-4", "Z-5"];
    expect(await Promise.all(numbers.map(statusOf))).toEqual([
      "closed",
      "closed",
      "open",
      "closed",
      "closed",
    ]);
    const closures = await listClosuresOf(at().store.read, "acme", ["Z-5"]);
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
  it("accepts types by number, ignores a status, and refuses the same values as the API", async () => {
    const csv = [
      "document_number,account_number,invoice_date,due_date,document_type,applies_to_invoice,denomination",
      "T-1,A-1,2026-01-31,2026-03-02,3,INV-1,-12.5",
      "T-2,A-1,2026-01-31,2026-03-02,other,,1",
      "T-3,A-1,2026-01-31,2026-03-02,credit_note,,-1",
      "T-4,A-1,2026-02-30,2026-03-02,7,,1.23456",
      ",A-1,2026-01-31,2026-03-02,,,1",
    ].join("\n");
    const { counts, rejects } = await importRecords(at(), "acme", "documents", csv);
    // T-3 is credit on account, which only the API refuses.
    expect(counts).toEqual({ ...NONE, read: 5, written: 3, rejected: 2 });
    expect(rejects.map(({ line, field, code }) => [line, field, code])).toEqual([
      [5, "invoice_date", "format"],
      [6, "document_number", "required"],
    ]);
    expect(rejects[0]?.message).toMatch(/document_type .*; denomination /);
    expect((await call("GET", documentAt("T-1"))).body.document_type).toBe("credit_note");
    await run(document("T-2", { document_type: 1, denomination: 1, status: "closed" }));
    expect(await statusOf("T-2")).toBe("open");
  });

  it("accepts an unknown account, unless the tenant requires known ones", async () => {
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

  it("writes nothing for documents that the API has written with equal values", async () => {
    const { document_number: number, ...body } = document("S-1", { denomination: 5.1 });
    expect((await call("PUT", documentAt(number), { body })).status).toBe(201);
    expect((await run(document("S-1", { denomination: 5.1 }))).counts.unchanged).toBe(1);
  });
});

onEveryStore("import of closures", (at) => {
  const call = useIngestTenant(at, "acme");
  const run = (...rows: object[]) =>
    importRecords(at(), "acme", "closures", ndjson(...rows), NDJSON);

  verifies("ID-14");
  it("closes once: an equal row is unchanged, another reason or day is refused", async () => {
    const numbers = ["C-1", "C-2", "C-3", "C-4"];
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
      { ...paid, closure_date: "2026-02-01T00:00:00Z" },
      { document_number: "C-2", closure_reason: "write_off", notes: "Too small" },
      { document_number: "C-0", closure_reason: "paid" },
      { document_number: "nowhere", closure_reason: "paid" },
      { document_number: "C-3", closure_reason: "lost", closure_date: "2099-01-01" },
      { document_number: "C-4" },
    ];
    const { counts, rejects } = await run(...rows);
    expect(counts).toEqual({ ...NONE, read: 7, written: 2, unchanged: 1, rejected: 4 });
    expect(rejects.map(({ line, field, code }) => [line, field, code])).toEqual([
      [4, "document_number", "document_already_closed"],
      [5, "document_number", "document_not_found"],
      [6, "closure_reason", "enum"],
      [7, "closure_reason", "required"],
    ]);
    expect(rejects[0]?.message).toContain("closed by itself");
    expect(rejects[2]?.message).toMatch(/; also closure_date must not be after/);
    for (const [other, what] of [
      [{ ...paid, closure_date: "2026-02-02" }, "another day"],
      [{ ...paid, closure_reason: "other" }, "another reason"],
    ] as const) {
      expect((await run(other)).rejects).toMatchObject([
        { code: "document_already_closed", message: expect.stringContaining(what) },
      ]);
    }
    const closures = await listClosuresOf(at().store.read, "acme", ["C-2"]);
    expect(closures).toMatchObject([
      {
        closure_reason: "write_off",
        closed_at: at().clock(),
        notes: "Too small",
        source: "import",
      },
    ]);
    at().clock.advance(DAY);
    expect((await run(...rows)).counts).toMatchObject({ written: 0, unchanged: 3 });
  });

  verifies("MN-04");
  it("refuses closures of one document that contradict each other, by both lines", async () => {
    const numbers = ["T-1", "T-2", "T-3"];
    const documents = numbers.map((number) => document(number, { denomination: 9 }));
    await importRecords(at(), "acme", "documents", ndjson(...documents), NDJSON);
    const closure = (number: string) => ({
      document_number: number,
      closure_reason: "paid",
      closure_date: "2026-02-01",
    });
    const { counts, rejects } = await run(
      closure("T-1"),
      closure("T-2"),
      { ...closure("T-3"), closure_date: undefined },
      { ...closure("T-1"), closure_reason: "write_off" },
      { ...closure("T-2"), closure_date: "2026-02-02" },
      closure("T-3"),
    );
    expect(counts).toEqual({ ...NONE, read: 6, rejected: 6 });
    expect(rejects.map(({ line, code, message }) => [line, code, message.split(";")[0]])).toEqual([
      [1, "contradiction", "stands in line 4 too, with another closure_reason"],
      [2, "contradiction", "stands in line 5 too, with another closure_date"],
      [3, "contradiction", "stands in line 6 too, with another closure_date"],
      [4, "contradiction", "stands in line 1 too, with another closure_reason"],
      [5, "contradiction", "stands in line 2 too, with another closure_date"],
      [6, "contradiction", "stands in line 3 too, with another closure_date"],
    ]);
    for (const number of numbers) {
      expect(await listClosuresOf(at().store.read, "acme", [number])).toEqual([]);
    }
  });

  it("closes a reopened document again", async () => {
    const closure = { document_number: "C-1", closure_reason: "paid", closure_date: "2026-02-20" };
    await call("PATCH", documentAt("C-1"), { body: { denomination: 4 } });
    expect((await run(closure)).counts.written).toBe(1);
    expect((await run(closure)).counts.unchanged).toBe(1);
    expect(await listClosuresOf(at().store.read, "acme", ["C-1"])).toHaveLength(2);
  });

  verifies("D-CONF-8");
  it("closes the disputes on a document if the tenant has chosen a resolution for it", async () => {
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
