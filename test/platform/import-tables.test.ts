import { writeXlsx } from "hucre/xlsx";
import { beforeEach, expect, it } from "vitest";
import { camtEntry, camtStatement } from "../support/bank-files.ts";
import { suggest, workbook } from "../support/import-tables.ts";
import { importPayments, importRecords } from "../support/importing.ts";
import { documentAt, ingestTenant } from "../support/ingest.ts";
import { type Caller, onEveryStore } from "../support/platform.ts";
import { UNKNOWN_FILES } from "../support/unknown-files.ts";
import { verifies } from "../support/verifies.ts";
import { packZip } from "../support/zip.ts";

const QUERY = "/api/v1/remittance-export/payments/query";
const HEADER = "paymentId,paymentDate,currencyCode,paymentAmount,payerName,documentNumber";

let tenants = 0;

onEveryStore("tables of payments and documents", (at) => {
  let tenantId: string;
  let call: Caller;
  beforeEach(async () => {
    tenants += 1;
    tenantId = `tables-${tenants}`;
    call = await ingestTenant(at(), tenantId);
  });

  const importCsv = (
    text: string | Buffer,
    how: object = {},
    source: "cashapp" | "iandp" = "cashapp",
  ) => importPayments(at(), { tenantId, source }, text, how);
  const paymentsOf = async (...fields: string[]) => {
    const caller = await at().exportCaller(tenantId);
    const source = fields.includes("amountPaid") ? "iandp" : "cashapp";
    const { body } = await caller("POST", QUERY, { body: { source, fields } });
    return (body.data as object[]).map((row) => Object.values(row));
  };

  verifies("MN-05", "MN-17");
  it("refuses a ZIP with a file of another kind as a whole, and names what stays of one that fails later", async () => {
    const good = `${HEADER}\nP1,2026-03-01,USD,1.00,A,\n`;
    const foreign = await packZip({ "a.csv": good, "b.pdf": "%PDF-1.7\n" });
    await expect(importCsv(foreign, { format: undefined })).rejects.toThrow(
      "b.pdf is a PDF, which cannot be imported. Nothing was changed.",
    );
    expect(await paymentsOf("paymentId")).toEqual([]);
    const later = await packZip({ "a.csv": good, "b.csv": "Hello\nthere\n" });
    await expect(importCsv(later, { format: undefined })).rejects.toThrow(
      /^In the archive, b\.csv: .* The file before it stays imported; import undo \S+ takes that back\.$/,
    );
    await expect(importCsv(later, { format: undefined, dryRun: true })).rejects.toThrow(
      /or give a map\.$/,
    );
    expect(await paymentsOf("paymentId")).toEqual([["P1"]]);
  });

  verifies("MN-02");
  it("names the sheets of a workbook that it does not read", async () => {
    const rows = (id: string) => [HEADER.split(","), [id, "2026-03-01", "USD", 1, "A", ""]];
    const sheets = [
      { name: "January", rows: rows("P1") },
      { name: "Notes", rows: [] },
      { name: "February", rows: rows("P2") },
    ];
    const { counts, warned } = await importCsv(Buffer.from(await writeXlsx({ sheets })), {
      format: "xlsx",
    });
    expect(counts).toMatchObject({ read: 1, written: 1 });
    expect(warned).toEqual([
      'sheet January is the one that is read; February also has rows, which need an import with a map that names the "sheet"',
    ]);
  });

  it("shows the value of a bank's record, which has no columns", async () => {
    const { rejects } = await importPayments(
      at(),
      { tenantId, source: "cashapp" },
      camtStatement(camtEntry({ amount: "10.005" })),
      { format: "camt" },
    );
    expect(rejects.map(({ message }) => message)).toEqual([
      "must have at most 2 decimals, as EUR has, not 10.005",
    ]);
  });

  verifies("MN-20");
  it("refuses more decimals than a currency has, and unknown currencies", async () => {
    const rows = [
      "P1,2026-03-01,JPY,1000.50,A,",
      "P2,2026-03-01,USD,10.005,B,",
      "P3,2026-03-01,KWD,1.234,C,",
      "P4,2026-03-01,XXQ,4.00,D,",
    ];
    const { counts, rejects } = await importCsv([HEADER, ...rows].join("\n"));
    expect(counts).toMatchObject({ written: 1, rejected: 3 });
    expect(rejects.map(({ line, field }) => [line, field])).toEqual([
      [2, "paymentAmount"],
      [3, "paymentAmount"],
      [5, "currencyCode"],
    ]);
    expect(await paymentsOf("currencyCode", "paymentAmount")).toEqual([["KWD", 1.234]]);
    const json = [{ paymentAmount: 10.005 }, { paymentAmount: "10.00" }, { currencyCode: "usd" }];
    const sent = json.map((more, place) =>
      JSON.stringify({
        paymentId: `N${place}`,
        paymentDate: "2026-03-01",
        currencyCode: "USD",
        paymentAmount: 1,
        ...more,
      }),
    );
    const read = await importCsv(sent.join("\n"), { format: "ndjson" });
    expect(read.rejects.map(({ field }) => field)).toEqual([
      "paymentAmount",
      "paymentAmount",
      "currencyCode",
    ]);
  });

  verifies("MN-20");
  it("refuses documents with more decimals, numbers in exponent form, or no amount", async () => {
    const text = [
      "document_number,account_number,invoice_date,due_date,currency,denomination,original_currency,denomination_in_original_currency",
      "D1,C1,2026-03-01,2026-03-31,JPY,10.5,,",
      "D2,C1,2026-03-01,2026-03-31,USD,10.5,KWD,1.2345",
      "4.50001E+12,C1,2026-03-01,2026-03-31,USD,10.50,,",
      "D3,C1,2026-03-01,2026-03-31,USD,,,",
      "D4,C1,2026-06-30T21:15:00-07:00,2026-07-30,USD,10.50,KWD,1.234",
    ].join("\n");
    const { counts, rejects } = await importRecords(at(), tenantId, "documents", text);
    expect(counts).toMatchObject({ read: 5, written: 1, rejected: 4 });
    expect(rejects.map(({ field }) => field)).toEqual([
      "denomination",
      "denomination_in_original_currency",
      "document_number",
      "denomination",
    ]);
    expect((await call("GET", documentAt("D4"))).body).toMatchObject({
      invoice_date: "2026-06-30",
    });
  });

  verifies("MN-21");
  it("writes nothing of a file without a required column", async () => {
    const text =
      "document_number,account_number,invoice_date,due_date,currency,amount\nI1,C1,2026-03-01,2026-03-31,USD,100.00\n";
    await expect(importRecords(at(), tenantId, "documents", text)).rejects.toThrow(
      /"amount"; did you mean/,
    );
    expect((await call("GET", documentAt("I1"))).status).toBe(404);
  });

  verifies("MN-20", "MN-22");
  it("reads a workbook, and the written day of a timestamp", async () => {
    const { bytes } = await workbook([
      HEADER.split(","),
      ["X1", new Date(Date.UTC(2026, 2, 1)), "EUR", 10, "Müller", null],
      ["X2", new Date(Date.UTC(2026, 2, 31)), "EUR", 20.5, "Smith", null],
    ]);
    expect((await importCsv(bytes, { format: "xlsx" })).counts).toMatchObject({
      written: 2,
      rejected: 0,
    });
    expect((await importCsv(bytes, { format: "xlsx" })).counts).toMatchObject({ unchanged: 2 });
    expect(await paymentsOf("paymentId", "paymentDate", "payerName", "paymentAmount")).toEqual([
      ["X1", "2026-03-01", "Müller", 10],
      ["X2", "2026-03-31", "Smith", 20.5],
    ]);
    const portal =
      "paymentId,paymentDate,currencyCode,amountPaid\nA,2026-06-30T21:15:00-07:00,USD,100.00\n";
    await importCsv(portal, {}, "iandp");
    expect(await paymentsOf("amountPaid", "paymentDate")).toEqual([[100, "2026-06-30"]]);
  });

  verifies("MN-22");
  it("takes a file of unknown form with the map that is suggested for it", async () => {
    const [found] = UNKNOWN_FILES;
    if (found === undefined) throw new Error("no file");
    const [, kind, make, { first }] = found;
    const file = await make();
    const { map } = await suggest(kind, file);
    // The command converts files to UTF-8 before they are read.
    const text = file.bytes.toString("latin1");
    const { counts } = await importCsv(text, { map });
    expect(counts).toMatchObject({ written: 2, rejected: 0 });
    expect(await paymentsOf("payerName", "paymentAmount")).toContainEqual([
      first["payerName"],
      1234.56,
    ]);
  });

  verifies("MN-04", "MN-02");
  it("keeps equal credits of a bank's list apart, which has no numbers of payments", async () => {
    const rows = ["28.02.2026;Acme;Spende;100,00", "28.02.2026;Acme;Spende;100,00"];
    const text = ["Datum;Auftraggeber;Verwendungszweck;Betrag", ...rows].join("\n");
    const { map } = await suggest("cashapp", { format: "csv", bytes: Buffer.from(text) }, "EUR");
    const { counts, report } = await importCsv(text, { map });
    expect(counts).toMatchObject({ written: 2, rejected: 0 });
    expect(report.files[0]?.totals).toMatchObject([{ credits: 200, written: 200 }]);
    expect((await importCsv(text, { map })).counts).toMatchObject({ written: 0, unchanged: 2 });
    const longer = await importCsv(`${text}\n${rows[0]}`, { map });
    expect(longer.counts).toMatchObject({ written: 1, unchanged: 2 });
    const ids = (await paymentsOf("paymentId")).flat();
    expect(new Set(ids).size).toBe(3);
  });

  verifies("MN-05", "MN-21");
  it("refuses a table without a header", async () => {
    for (const text of ["", "\n\n"]) await expect(importCsv(text)).rejects.toThrow("is empty");
    expect((await importCsv(`${HEADER}\n`)).counts).toMatchObject({ read: 0 });
  });
});
