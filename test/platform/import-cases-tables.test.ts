import { expect, it } from "vitest";
import { createMoneyCases, listAmounts } from "../support/money-cases.ts";
import { windows1252, workbook } from "../support/import-tables.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const HEAD = "paymentId,paymentDate,currencyCode,paymentAmount,payerName,documentNumber";

const table = (head: string, ...rows: readonly string[]): string => [head, ...rows, ""].join("\n");

onEveryStore("cases of public reports: payments in tables", (at) => {
  const { tenant, start, bring, pay, query, paid } = createMoneyCases(at);

  verifies("MN-20");
  it("csv-decimals-of-currency: refuses more decimals than the currency has", async () => {
    await start("USD");
    const rows = [
      "P1,2026-03-01,JPY,1000.50,A,",
      "P2,2026-03-01,USD,10.005,B,",
      "P3,2026-03-01,KWD,1.234,C,",
      "P4,2026-03-01,XXQ,4.00,D,",
    ];
    const { exit, report, rejects } = await pay(table(HEAD, ...rows));
    expect([exit, report?.written, report?.rejected]).toEqual([0, 1, 3]);
    expect(rejects.map(({ line }) => line)).toEqual([2, 3, 5]);
    expect(listAmounts(await paid())).toEqual([[1.234, "KWD"]]);
  });

  verifies("MN-20");
  it("csv-number-and-date-forms: reads a number right or refuses it", async () => {
    await start("USD");
    const rows = [
      'P1,2026-03-01,USD,"1,234.56",A,',
      'P2,2026-03-02,USD,"(1,234.56)",B,',
      "P3,2026-03-03,USD,50.00-,C,",
      "P4,2026-03-04,USD,$75.00,D,",
      "P5,2026-03-04,USD,+30.00,F,",
      "P6,2026-03-04,USD, 40.00 ,G,",
    ];
    const { report, rejects } = await pay(table(HEAD, ...rows));
    const right: Record<string, number> = {
      P1: 1234.56,
      P2: -1234.56,
      P3: -50,
      P4: 75,
      P5: 30,
      P6: 40,
    };
    const payments = await paid();
    for (const { id, amount } of payments) expect([id, amount]).toEqual([id, right[id]]);
    expect(payments.length + rejects.length).toBe(6);
    expect(report?.rejected).toBe(rejects.length);
  });

  verifies("MN-22");
  it.each([
    ["13/02/2026", "DD/MM/YYYY"],
    ["2/13/26", "M/D/YY"],
    ["13-Feb-26", "D-MMM-YY"],
    ["2026-02-13 00:00:00", "YYYY-MM-DD HH:mm:ss"],
  ])("csv-number-and-date-forms: reads %s as %s", async (day, date) => {
    await start("USD");
    const map = {
      paymentId: "id",
      paymentDate: { column: "d", date },
      paymentAmount: "a",
      currencyCode: { value: "USD" },
    };
    expect((await pay(table("id,d,a", `D1,${day},10.00`), { map })).exit).toBe(0);
    expect(await paid()).toMatchObject([{ amount: 10, currency: "USD", day: "2026-02-13" }]);
  });

  verifies("MN-23");
  it("csv-amount-per-line: rows of one payment with other totals are refused, or added up by a map", async () => {
    await start("USD");
    const rows = [
      "CHK-9,2026-03-02,USD,300.00,ACME,INV-1",
      "CHK-9,2026-03-02,USD,450.00,ACME,INV-2",
      "CHK-9,2026-03-02,USD,250.00,ACME,INV-3",
    ];
    const { exit, report, rejects } = await pay(table(HEAD, ...rows));
    expect([exit, report?.rejected]).toEqual([1, 3]);
    expect(rejects.map(({ line, message }) => [line, message])).toEqual([
      [2, expect.stringMatching(/line 3.*paymentAmount/)],
      [3, expect.stringMatching(/line 2.*paymentAmount/)],
      [4, expect.stringMatching(/line [23].*/)],
    ]);
    expect(await paid()).toEqual([]);
    const same = ["paymentId", "paymentDate", "currencyCode", "payerName", "documentNumber"];
    const map = {
      ...Object.fromEntries(same.map((name) => [name, name])),
      paymentAmount: { sum: "paymentAmount" },
    };
    expect((await pay(table(HEAD, ...rows), { map })).exit).toBe(0);
    const payments = await paid();
    expect(payments).toMatchObject([{ id: "CHK-9", amount: 1000 }]);
    expect(payments[0]?.rows).toHaveLength(3);
  });

  verifies("MN-21");
  it("csv-total-row-and-debit-column: takes no total, no blank row and no debit for a payment", async () => {
    await start("USD", { accounts: ["A"] });
    const rows = ["P1,2026-03-01,USD,10.00,A,", ",,,,,", ",,,,,", "Total,,,10.00,,"];
    const a = await pay(table(HEAD, ...rows));
    expect([a.exit, a.report?.written]).toEqual([0, 1]);
    expect([a.report?.leftOut, a.report?.rejected]).toEqual([1, 0]);
    expect(a.report?.files[0]?.entriesLeftOut).toMatchObject([{ line: 5 }]);
    const map = {
      paymentId: "Ref",
      paymentDate: "Date",
      paymentAmount: "Credit",
      currencyCode: { value: "USD" },
    };
    const credits = ["R1,2026-02-13,,100.00", "R2,2026-02-13,40.00,"];
    expect((await pay(table("Ref,Date,Debit,Credit", ...credits), { map })).exit).toBe(0);
    expect(listAmounts(await paid())).toEqual([
      [100, "USD"],
      [10, "USD"],
    ]);
    const head = "document_number,account_number,invoice_date,due_date,currency,amount";
    const c = await bring("documents", table(head, "I1,C1,2026-03-01,2026-03-31,USD,100.00"));
    expect(c.exit).toBe(1);
    const documents = at().store.read.selectFrom("documents").select("document_number");
    expect(await documents.where("tenant_id", "=", tenant()).execute()).toEqual([]);
  });

  verifies("MN-20", "MN-22");
  it("reads a debit that its column shows with a minus as the debit that it is", async () => {
    await start("CHF", { accounts: ["A"] });
    const map = {
      paymentId: "Ref",
      paymentDate: { column: "Datum", date: "DD.MM.YYYY" },
      paymentAmount: { debit: "Belastung", credit: "Gutschrift" },
      currencyCode: { value: "CHF" },
    };
    const bank = ["R1,27.05.2026,-30.00,", "R2,28.05.2026,,500.00", "R3,29.05.2026,-,12.50"];
    const { exit, report } = await pay(table("Ref,Datum,Belastung,Gutschrift", ...bank), { map });
    expect([exit, report?.written, report?.leftOut]).toEqual([0, 2, 1]);
    expect(report?.files[0]?.totals).toMatchObject([{ credits: 512.5, debits: 30, leftOut: -30 }]);
    expect(listAmounts(await paid())).toEqual([
      [500, "CHF"],
      [12.5, "CHF"],
    ]);
    const ledger = (credit: string): string =>
      table(
        "No,Account,Day,Due,Soll,Haben",
        `I1,C1,2026-03-01,2026-03-31,70.00,`,
        `G1,C1,2026-03-01,2026-03-31,,${credit}`,
      );
    const fields = {
      document_number: "No",
      account_number: "Account",
      invoice_date: "Day",
      due_date: "Due",
      currency: { value: "CHF" },
    };
    const sides = { ...fields, denomination: { debit: "Soll", credit: "Haben" } };
    const both = await bring("documents", ledger("-20.00"), { map: sides });
    expect([both.exit, both.report?.written, both.report?.rejected]).toEqual([0, 1, 1]);
    expect(JSON.stringify(both.rejects)).toContain("a credit of 20 or as a cancelled one");
    const joined = { ...fields, denomination: { join: ["Soll", "Haben"] } };
    const again = await bring("documents", ledger("-20.00"), { map: joined });
    expect([again.exit, again.report?.written, again.report?.unchanged]).toEqual([0, 1, 1]);
    const documents = at().store.read.selectFrom("documents").select("document_number as no");
    const rows = await documents.where("tenant_id", "=", tenant()).execute();
    expect(rows.map(({ no }) => no).toSorted()).toEqual(["G1", "I1"]);
  });

  verifies("MN-16", "MN-17");
  it("portal-timestamps-padding-encodings: takes the day that is written, trims, and reads encodings", async () => {
    await start("USD", { accounts: ["Customer C1"], documents: { "INV-1": "1000.00" } });
    const portal = table(
      "paymentId,invoiceNumber,paymentDate,settlementDate,currencyCode,amountPaid,paymentStatus",
      "A,I1,2026-06-30T21:15:00-07:00,2026-06-30T21:15:00-07:00,USD,100.00,settled",
    );
    expect((await pay(portal, { source: "iandp" })).exit).toBe(0);
    const names = ["paymentId", "paymentDate", "settlementDate", "amountPaid"];
    expect(await query("iandp", names)).toEqual([
      { paymentId: "A", paymentDate: "2026-06-30", settlementDate: "2026-06-30", amountPaid: 100 },
    ]);
    const disputed = table(
      "accountNumber,documentNumber,amount,currencyCode,categoryCode,reasonCode,createDate",
      "C1,INV-1,100.00,USD,DED,SHORT,2026-03-10",
    );
    expect((await bring("disputes", disputed, { createConfiguration: true })).exit).toBe(0);
    const padded = table(
      "paymentId,paymentDate,currencyCode,paymentAmount,documentNumber,deductionAmount",
      "P1        ,2026-03-15,USD,900.00,INV-1     ,100.00",
    );
    expect((await pay(padded)).exit).toBe(0);
    const [one] = await paid();
    expect(one?.rows).toMatchObject([
      { paymentId: "P1", documentNumber: "INV-1", deductionAmount: 100 },
    ]);
    const disputes = at().store.read.selectFrom("disputes").select("document_number");
    expect(await disputes.where("tenant_id", "=", tenant()).execute()).toEqual([
      { document_number: one?.rows[0]?.["documentNumber"] },
    ]);
  });

  verifies("MN-17");
  it("portal-timestamps-padding-encodings: names the encoding of each file", async () => {
    await start("USD");
    const unicode = table(HEAD, "U1,2026-03-01,EUR,10.00,Müller,");
    const c1 = await pay(Buffer.from(`\uFEFF${unicode}`, "utf16le"));
    expect([c1.exit, c1.report?.files[0]?.encoding]).toEqual([0, expect.stringMatching(/utf-16/i)]);
    const western = table(
      HEAD,
      "W1,2026-03-01,EUR,10.00,Müller,",
      "W2,2026-03-01,EUR,20.00,Smith,",
    );
    const c2 = await pay(windows1252(western));
    expect([c2.exit, c2.report?.files[0]?.encoding]).toEqual([
      0,
      expect.stringMatching(/windows-1252|iso-8859-1/),
    ]);
    const { bytes } = await workbook([
      HEAD.split(","),
      ["X1", new Date("2026-03-01T00:00:00Z"), "EUR", 10, "Müller", null],
      ["X2", new Date("2026-03-31T00:00:00Z"), "EUR", 20.5, "Smith", null],
    ]);
    const d = await pay(bytes, { file: "d.xlsx" });
    expect([d.exit, d.report?.files[0]?.format]).toEqual([0, "xlsx"]);
    const payments = await paid();
    const shown = payments.map(({ id, amount, day, rows }) => [
      id,
      amount,
      day,
      rows[0]?.["payerName"],
    ]);
    expect(shown.toSorted()).toEqual([
      ["U1", 10, "2026-03-01", "Müller"],
      ["W1", 10, "2026-03-01", "Müller"],
      ["W2", 20, "2026-03-01", "Smith"],
      ["X1", 10, "2026-03-01", "Müller"],
      ["X2", 20.5, "2026-03-31", "Smith"],
    ]);
  });

  const REGISTER =
    "paymentId,paymentAmount,currencyCode,paymentDate,payerName,documentNumber,appliedAmount";
  const register = (...rows: readonly string[]): string =>
    [
      REGISTER,
      ...rows.map((row) => {
        const [id, amount, document, applied = ""] = row.split(" ");
        return `${id},${amount},USD,2026-02-13,A,${document},${applied}`;
      }),
      "",
    ].join("\n");
  const sums = async () =>
    (await paid()).map(({ amount, applied, unapplied, documents, rows }) => ({
      amount,
      applied,
      unapplied,
      documents,
      left: [...new Set(rows.map((row) => row["unappliedAmount"]))],
    }));

  verifies("MN-01", "MN-31");
  it("applies at most the amount of a payment if some of its rows name an applied amount or come in another file", async () => {
    const before = { accounts: ["A"], documents: { I1: "100.00", I2: "150.00" } };
    const both = { amount: 150, applied: 150, unapplied: 0, documents: { I1: 100, I2: 50 } };
    for (const files of [
      [register("P1 150.00 I1 100.00", "P1 150.00 I2")],
      [register("P1 150.00 I1"), register("P1 150.00 I1", "P1 150.00 I2")],
      [register("P1 150.00 I1"), register("P1 150.00 I2")],
    ]) {
      await start("USD", before);
      for (const file of [...files, ...files]) await pay(file);
      expect(await sums()).toEqual([{ ...both, left: [0] }]);
    }
    await start("USD", before);
    await pay(register("P1 100.00 I1"));
    await pay(register("P1 100.00 I2"));
    expect(await sums()).toEqual([
      { amount: 100, applied: 100, unapplied: 0, documents: { I1: 100 }, left: [0] },
    ]);
  });

  verifies("MN-01");
  it("says what is left of a payment whose rows all say what is applied, also after a correction", async () => {
    await start("USD", { accounts: ["A"] });
    await pay(register("P1 150.00 I1 100.00", "P1 150.00 I2 20.00"));
    const first = { amount: 150, applied: 120, unapplied: 30 };
    expect(await sums()).toMatchObject([{ ...first, left: [30] }]);
    const again = await pay(register("P1 150.00 I1 100.00", "P1 150.00 I2 20.00"));
    expect(again.report).toMatchObject({ written: 0, unchanged: 2 });
    const corrected = await pay(register("P1 150.00 I1 90.00", "P1 150.00 I2 20.00"));
    expect(corrected.report).toMatchObject({ written: 1, unchanged: 1 });
    expect(await sums()).toMatchObject([{ applied: 110, unapplied: 40, left: [40] }]);
    await pay(register("P1 150.00 I3 40.00"));
    expect(await sums()).toMatchObject([{ applied: 150, unapplied: 0, left: [0] }]);
  });
});
