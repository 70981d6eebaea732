import { expect, it } from "vitest";
import { camtEntry, camtStatement } from "../support/bank-files.ts";
import { createMoneyCases, listAmounts } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { findRows } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";
import { packZip } from "../support/zip.ts";

const HEAD =
  "document_number,account_number,invoice_date,due_date,currency,original_denomination,denomination";

const table = (head: string, ...rows: readonly string[]): string => [head, ...rows, ""].join("\n");

onEveryStore("cases of public reports: documents, envelopes and formats", (at) => {
  const { tenant, start, bring, pay, paid } = createMoneyCases(at);
  const sumOpen = async (): Promise<{ numbers: string[]; open: number }> => {
    const rows = await findRows(at().store.read, "documents", { tenant_id: tenant() });
    const open = rows.reduce((sum, { balance }) => sum + (balance ?? 0), 0);
    return { numbers: rows.map((row) => row.document_number), open };
  };

  verifies("MN-20");
  it("documents-scientific-numbers: refuses numbers in exponent form", async () => {
    await start("USD", { accounts: ["A"] });
    const rows = [
      "4.50001E+12,C1,2026-09-01,2026-10-01,USD,100.00,100.00",
      "4.50001E+12,C1,2026-09-02,2026-10-02,USD,250.00,250.00",
      "4.50001E+12,C1,2026-09-03,2026-10-03,USD,75.50,75.50",
    ];
    const { exit, report, rejects } = await bring("documents", table(HEAD, ...rows));
    expect([exit, report?.rejected]).toEqual([1, 3]);
    for (const { message } of rejects) expect(message).toMatch(/as text/);
    expect(await sumOpen()).toEqual({ numbers: [], open: 0 });
  });

  verifies("MN-04");
  it("documents-instalments-shared-number: refuses rows of one number that contradict each other", async () => {
    await start("USD", { accounts: ["A", "B"] });
    const rows = [
      "INV-7,C1,2026-09-01,2026-10-01,USD,300.00,300.00",
      "INV-7,C1,2026-09-01,2026-11-01,USD,300.00,300.00",
      "INV-7,C1,2026-09-01,2026-12-01,USD,300.00,300.00",
      "1001,C1,2026-09-01,2026-10-01,USD,50.00,50.00",
      "1001,C2,2026-09-01,2026-10-01,USD,80.00,80.00",
    ];
    for (const _time of ["first", "second"]) {
      const { exit, report, rejects } = await bring("documents", table(HEAD, ...rows));
      expect([exit, report?.rejected]).toEqual([1, 5]);
      expect(rejects.slice(3).map(({ line, message }) => [line, message])).toEqual([
        [5, expect.stringContaining("line 6")],
        [6, expect.stringContaining("line 5")],
      ]);
    }
    expect(await sumOpen()).toEqual({ numbers: [], open: 0 });
  });

  verifies("MN-24");
  it("documents-credit-notes-in-csv: a credit note reduces, or its sign is refused", async () => {
    await start("USD", { accounts: ["Credit Co"] });
    const head =
      "document_number,account_number,document_type,applies_to_invoice,invoice_date,due_date,currency,original_denomination,denomination";
    const rows = [
      "INV-1,C1,invoice,,2026-08-01,2026-09-01,USD,1000.00,1000.00",
      "CM-2,C1,credit_note,,2026-08-15,2026-08-15,USD,300.00,300.00",
      "CN-3,C1,credit_note,INV-1,2026-08-15,2026-08-15,USD,50.00,50.00",
    ];
    const { exit, report, rejects } = await bring("documents", table(head, ...rows));
    expect(exit).toBe(0);
    if (report?.rejected === 2) {
      expect(rejects.map(({ line }) => line)).toEqual([3, 4]);
      expect((await sumOpen()).numbers).toEqual(["INV-1"]);
    } else {
      expect(report?.rejected).toBe(0);
      expect((await sumOpen()).open).toBe(650);
    }
  });

  verifies("MN-17", "MN-03");
  it("camt-zip-and-utf16: the same payment in a ZIP and in UTF-16 is written once", async () => {
    await start("EUR");
    const details = `<TxDtls><Refs><EndToEndId>EN-1</EndToEndId></Refs><Amt Ccy="EUR">55.00</Amt><RltdPties><Dbtr><Pty><Nm>C1</Nm></Pty></Dbtr></RltdPties></TxDtls>`;
    const text = camtStatement(camtEntry({ amount: "55.00", reference: "EN1", details }));
    const packed = await packZip({ "2026-03-30.xml": text });
    const a = await pay(packed, { format: "camt", file: "a.zip" });
    expect(a.report).toMatchObject({ read: 1, written: 1 });
    expect(a.report?.files).toMatchObject([{ file: "2026-03-30.xml" }]);
    const utf16 = Buffer.from(`\uFEFF<?xml version="1.0" encoding="UTF-16"?>\n${text}`, "utf16le");
    const b = await pay(utf16, { format: "camt" });
    expect([b.exit, b.report?.read, b.report?.written]).toEqual([0, 1, 0]);
    expect(b.report?.files[0]?.encoding).toMatch(/utf-16/i);
    expect(listAmounts(await paid())).toEqual([[55, "EUR"]]);
  });

  verifies("MN-17");
  it("edi835-and-mt940-exit-status: names a remittance for health care, and reads a statement by its content", async () => {
    await start("EUR");
    const health = [
      "ISA*00*          *00*          *ZZ*S              *ZZ*R              *260330*1253*^*00501*000000905*0*P*:",
      "GS*HP*S*R*20260330*1253*1*X*005010X221A1",
      "ST*835*0001",
      "BPR*I*132*C*CHK************20260330",
      "TRN*1*12345*1512345678",
      "SE*4*0001",
      "GE*1*1",
      "IEA*1*000000905",
      "",
    ].join("~");
    const a = await pay(health, { format: "edi820" });
    expect([a.exit, a.message]).toEqual([1, expect.stringContaining("835")]);
    const statement = [
      ":20:START",
      ":25:12345678/9",
      ":28C:1/1",
      ":60F:C260330EUR100,00",
      ":61:2603300330C50,00NTRFNONREF",
      ":86:166?20INV-1",
      ":62F:C260330EUR150,00",
      "-",
      "",
    ].join("\n");
    const b = await pay(statement, { file: "b.sta" });
    expect([b.exit, b.report?.files[0]?.format]).toEqual([0, "mt940"]);
    const payments = await paid();
    expect(payments).toMatchObject([{ amount: 50, currency: "EUR", day: "2026-03-30" }]);
    expect(payments[0]?.rows).toMatchObject([{ remittanceText: "INV-1" }]);
  });
});
