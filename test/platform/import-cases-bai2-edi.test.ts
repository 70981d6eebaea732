import { expect, it } from "vitest";
import { bai2, camtEntry, camtStatement } from "../support/bank-files.ts";
import { createMoneyCases, listAmounts, textOf } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const writeBpr = (amount: string): string =>
  `BPR*C*${amount}*C*ACH*CTX*01*021000021*DA*123456*1234567890**01*031000053*DA*98765*20260330`;

type Advice = { trace: string; control?: string; sets?: string };

/** An 820 of one set in version 4010; `segments` begin with BPR. */
const advice = (
  [bpr = "", ...remittance]: readonly string[],
  { trace, control = "000000905", sets = "1" }: Advice,
): string => {
  const body = [bpr, `TRN*1*${trace}*1`, "N1*PR*BIG RETAIL INC", ...remittance];
  return [
    `ISA*00*          *00*          *ZZ*SENDERID       *ZZ*RECEIVERID     *260330*1253*U*00401*${control}*0*P*>`,
    "GS*RA*SENDERID*RECEIVERID*20260330*1253*1*X*004010",
    "ST*820*0001",
    ...body,
    `SE*${body.length + 2}*0001`,
    `GE*${sets}*1`,
    `IEA*1*${control}`,
    "",
  ].join("~\n");
};

const edi = { format: "edi820" } as const;
const bank = { format: "bai2" } as const;

onEveryStore("cases of public reports: BAI2 and 820", (at) => {
  const { start, pay, paid } = createMoneyCases(at);

  verifies("MN-10");
  it("bai2-returned-deposit: a returned check is a row of its own with a negative amount", async () => {
    await start("USD");
    const file = bai2([
      { type: "115", cents: "120000", bank: "DEP1", text: "LOCKBOX 68751" },
      "16,555,45000,V,260331,,DEP1,1234,DEPOSITED ITEM RETURNED NSF/",
    ]);
    expect((await pay(file, bank)).exit).toBe(0);
    const payments = await paid();
    expect(listAmounts(payments)).toEqual([
      [1200, "USD"],
      [-450, "USD"],
    ]);
    const back = payments.find(({ amount }) => amount < 0);
    expect(back?.rows.every((row) => row["applicationStatus"] === "reversed")).toBe(true);
    expect(JSON.stringify(back?.rows)).toContain("NSF");
  });

  verifies("MN-03");
  it("two-files-without-references: the number of the file or the invoice tells payments apart", async () => {
    await start("USD");
    const credit = { type: "165", cents: "50000", funds: "0", text: "DEPOSIT" };
    await pay(bai2([credit], { file: "1" }), bank);
    const second = await pay(bai2([credit], { file: "2" }), bank);
    expect(second.report).toMatchObject({ written: 1, doubtful: 1 });
    const payments = await paid();
    expect(listAmounts(payments)).toEqual([
      [500, "USD"],
      [500, "USD"],
    ]);
    expect(payments.filter(({ rows }) => rows[0]?.["doubt"] !== null)).toHaveLength(1);

    await start("USD");
    const paying = (invoice: string, control: string): string =>
      advice([writeBpr("500.00"), "ENT*1", `RMR*IV*${invoice}**500.00`], {
        trace: "",
        control,
      })
        .replace("TRN*1**1~\n", "")
        .replace("SE*7", "SE*6");
    expect((await pay(paying("INV-A", "000000001"), edi)).exit).toBe(0);
    expect((await pay(paying("INV-B", "000000002"), edi)).exit).toBe(0);
    const advised = await paid();
    expect(advised.map(({ amount, unapplied }) => [amount, unapplied])).toEqual([
      [500, 500],
      [500, 500],
    ]);
    expect(advised.map(({ rows }) => rows[0]?.["invoiceNumber"]).toSorted()).toEqual([
      "INV-A",
      "INV-B",
    ]);
  });

  verifies("MN-12");
  it("same-payment-in-two-messages: a reference of the bank or a trace number joins two messages", async () => {
    await start("EUR");
    const entry = camtEntry({ amount: "80.00", reference: "A1B2" });
    const intraday = { message: "BkToCstmrAcctRpt", statement: "Rpt", version: "052.001.08" };
    await pay(camtStatement(entry, intraday), { format: "camt" });
    await pay(camtStatement(entry), { format: "camt" });
    expect(listAmounts(await paid())).toEqual([[80, "EUR"]]);

    await start("EUR");
    const remittance = advice([writeBpr("1000.00"), "ENT*1", "RMR*IV*INV-1**1000.00"], {
      trace: "TRACE-12345",
    });
    await pay(remittance, edi);
    const deposit = { type: "165", cents: "100000", bank: "B1", customer: "TRACE-12345" };
    await pay(bai2([deposit]).replace("260228", "260330"), bank);
    const payments = await paid();
    expect(payments).toMatchObject([{ amount: 1000, currency: "USD", unapplied: 1000 }]);
    expect(payments[0]?.rows).toMatchObject([{ invoiceNumber: "INV-1" }]);
  });

  const remitted = async (amount: string, trace: string, ...remittance: string[]) => {
    await start("USD", { accounts: ["Customer C1"], documents: { "INV-1": "1000.00" } });
    const bpr = amount === "" ? "BPR*I*1000.00*C*CHK" : writeBpr(amount);
    expect((await pay(advice([bpr, ...remittance], { trace }), edi)).exit).toBe(0);
    const [one, ...others] = await paid();
    expect(others).toEqual([]);
    if (one === undefined) throw new Error("no payment was imported");
    return one;
  };

  verifies("MN-14", "MN-16");
  it("edi820-discount-and-optional: reads discounts, reasons, missing amounts, orders and days", async () => {
    const a = await remitted("980.00", "A", "ENT*1", "RMR*IV*INV-1**980.00*1000.00*20.00");
    expect(a).toMatchObject({
      documents: { "INV-1": 980 },
      unapplied: 0,
      discount: 20,
      deductions: {},
    });
    expect(a.rows.some((row) => row["shortPay"] === true)).toBe(false);
    const b = await remitted("900.00", "B", "ENT*1", "RMR*IV*INV-1**900.00*1000.00**L7*-100.00");
    expect(b).toMatchObject({
      documents: { "INV-1": 900 },
      unapplied: 0,
      deductions: { L7: 100 },
    });
    const c = await remitted("1000.00", "C", "ENT*1", "RMR*IV*INV-1");
    expect(c).toMatchObject({ amount: 1000, deductions: {} });
    expect(c.rows[0]).toMatchObject({ invoiceNumber: "INV-1" });
    const d = await remitted("1000.00", "D", "ENT*1", "RMR*PO*PO-555**1000.00", "REF*IV*INV-1");
    expect(d).toMatchObject({ documents: { "INV-1": 1000 }, unapplied: 0 });
    expect(d.rows[0]).toMatchObject({ invoiceNumber: "INV-1", poNumber: "PO-555" });
    const e = await remitted("", "E", "DTM*097*20260330", "ENT*1", "RMR*IV*INV-1**1000.00");
    expect(e).toMatchObject({ day: "2026-03-30", documents: { "INV-1": 1000 }, unapplied: 0 });
  });

  verifies("MN-14");
  it("edi820-unbalanced: an advice that does not balance applies no more than was paid", async () => {
    await start("USD", {
      accounts: ["Customer C1"],
      documents: { "INV-1": "1000.00", "INV-2": "700.00", "INV-3": "700.00" },
    });
    const send = (trace: string, amount: string, ...remittance: string[]) =>
      pay(advice([writeBpr(amount), "ENT*1", ...remittance], { trace }), edi);
    const adjusted = ["ADX*-150.00*56*CM*CB12345", "RMR*IV*INV-1**1000.00*1000.00"];
    expect((await send("A", "850.00", ...adjusted)).exit).toBe(0);
    expect((await send("B", "1000.00", "RMR*IV*UNKNOWN-1**1000.00")).exit).toBe(0);
    const above = await send("C", "1000.00", "RMR*IV*INV-2**700.00", "RMR*IV*INV-3**700.00");
    expect(above.exit).toBe(0);
    const payments = await paid();
    const [a, ...others] = payments.toSorted((one, other) => one.amount - other.amount);
    expect(a).toMatchObject({ amount: 850, documents: { "INV-1": 1000 } });
    const deducted = a?.rows.filter((row) => Number(row["deductionAmount"] ?? 0) !== 0);
    expect(deducted).toMatchObject([{ deductionAmount: 150 }]);
    expect(deducted?.[0]?.["documentNumber"] ?? null).toBeNull();
    expect(a === undefined ? "" : textOf(a)).toContain("CB12345");
    expect(others).toMatchObject([
      { amount: 1000, applied: 0, unapplied: 1000 },
      { amount: 1000, applied: 0, unapplied: 1000 },
    ]);
    expect(others.map(textOf).join("")).toContain("UNKNOWN-1");
  });

  verifies("MN-14");
  it("applies nothing of a remittance that explains more of a document than is due", async () => {
    await start("USD", { accounts: ["Customer C1"], documents: { "INV-1": "1000.00" } });
    const send = (trace: string, amount: string, ...remittance: string[]) =>
      pay(advice([writeBpr(amount), "ENT*1", ...remittance], { trace }), edi);
    await send("A", "900.00", "RMR*IV*INV-1**900.00*1000.00", "ADX*-150.00*01");
    await send("B", "910.00", "RMR*IV*INV-1**910.00*1000.00*20.00", "ADX*-90.00*01");
    const doubted = await paid();
    expect(doubted).toMatchObject([
      {
        amount: 900,
        applied: 0,
        unapplied: 900,
        rows: [{ doubt: expect.stringContaining("1050.00") }],
      },
      {
        amount: 910,
        applied: 0,
        unapplied: 910,
        rows: [{ doubt: expect.stringContaining("1020.00") }],
      },
    ]);
    await send("C", "880.00", "RMR*IV*INV-1**880.00*1000.00*20.00", "ADX*-100.00*01");
    expect((await paid()).find(({ amount }) => amount === 880)).toMatchObject({
      documents: { "INV-1": 880 },
      discount: 20,
      deductions: { "01": 100 },
    });
  });

  verifies("MN-12");
  it.each([
    ["a reference too short to be sure", { customer: "T7" }],
    ["no word but a number of the bank", { bank: "99887766" }],
  ])("doubts a deposit beside an advice of its day and amount with %s", async (_title, words) => {
    const remittance = advice([writeBpr("1000.00"), "ENT*1", "RMR*IV*INV-1**1000.00"], {
      trace: "T7",
    });
    const deposit = bai2([{ type: "165", cents: "100000", ...words }]).replace("260228", "260330");
    for (const files of [
      [remittance, deposit],
      [deposit, remittance],
    ]) {
      await start("USD");
      const reports = [];
      for (const file of files) reports.push((await pay(file)).report?.doubtful);
      expect(reports).toEqual([0, 1]);
    }
  });

  verifies("MN-15");
  it("control-totals-of-other-formats: refuses files whose totals differ, with both figures", async () => {
    await start("USD");
    const remittance = [writeBpr("1000.00"), "ENT*1", "RMR*IV*INV-1**1000.00"];
    const a = await pay(advice(remittance, { trace: "TRACE-1", sets: "2" }), edi);
    expect([a.exit, a.message]).toEqual([1, expect.stringMatching(/2.*1|1.*2/)]);
    const summary = `<TxsSummry><TtlCdtNtries><NbOfNtries>3</NbOfNtries><Sum>600.00</Sum></TtlCdtNtries></TxsSummry>`;
    const entries = ["100.00", "200.00"].map((amount, place) =>
      camtEntry({ amount, currency: "USD", reference: `L${place}` }),
    );
    const b = await pay(camtStatement(summary + entries.join("")), { format: "camt" });
    expect([b.exit, b.message]).toEqual([1, expect.stringMatching(/600.*300|300.*600/)]);
    const file = bai2([
      { type: "165", cents: "150000", bank: "B1", customer: "C1" },
      { type: "165", cents: "27505", bank: "B2", customer: "C2" },
      { type: "165", cents: "99999", bank: "B3", customer: "C3" },
    ]).replaceAll("777604", "1025049");
    const c = await pay(file, bank);
    expect([c.exit, c.message]).toEqual([1, expect.stringMatching(/10250\.49.*7776\.04/)]);
    expect(await paid()).toEqual([]);
  });

  verifies("MN-15");
  it("bai2-group-test-and-custom-credit: a test group loads nothing, codes of a bank are loaded or named", async () => {
    await start("USD");
    const test = bai2([{ type: "165", cents: "150000", bank: "B1" }], { status: "4" });
    const a = await pay(test, bank);
    expect(await paid()).toEqual([]);
    expect(`${a.message} ${JSON.stringify(a.report?.files)} ${a.warned.join(" ")}`).toMatch(
      /test/i,
    );
    const custom = bai2([
      { type: "921", cents: "120000", bank: "B9", customer: "C9", text: "CUSTOM CARD SETTLEMENT" },
      { type: "961", cents: "2500", bank: "B8", text: "CUSTOM FEE" },
      { type: "165", cents: "1000", bank: "B7", text: "X" },
    ]);
    const b = await pay(custom, bank);
    const sums = (await paid()).map(({ amount }) => amount).toSorted();
    if (b.exit === 1) expect(sums).toEqual([]);
    else if (b.report?.leftOut === 2) expect(sums).toEqual([10]);
    else expect(sums).toEqual([10, 1200]);
    expect(`${b.message} ${JSON.stringify(b.report?.files)}`).toMatch(/961/);
  });
});
