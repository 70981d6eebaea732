import { describe, expect, it } from "vitest";
import { readCamt } from "../../src/platform/import/bank/camt.ts";
import { camtEntry, camtStatement } from "../support/bank-files.ts";
import { readBank } from "../support/bank-reading.ts";
import { verifies } from "../support/verifies.ts";

const read = (text: string, options = {}) => readBank(readCamt, text, options);
const readEntries = (...entries: string[]) => read(camtStatement(entries.join("")));

const details = (parts: {
  id?: string;
  amount?: string;
  more?: string;
  currency?: string;
}): string => {
  const { id = "E-1", amount, more = "", currency = "EUR" } = parts;
  const money = amount === undefined ? "" : `<Amt Ccy="${currency}">${amount}</Amt>`;
  return `<TxDtls><Refs><EndToEndId>${id}</EndToEndId></Refs>${money}${more}</TxDtls>`;
};

const RETURN = "<RtrInf><Rsn><Cd>AC04</Cd></Rsn><AddtlInf>closed</AddtlInf></RtrInf>";

describe("camt directions", () => {
  verifies("MN-10");
  it.each([
    ["RvslInd", camtEntry({ amount: "9.00", sign: "DBIT", reversal: true }), "reversal"],
    [
      "RtrInf",
      camtEntry({
        amount: "9.00",
        sign: "DBIT",
        details: details({ amount: "9.00", more: RETURN }),
      }),
      "AC04 closed",
    ],
    [
      "UPDD",
      camtEntry({ amount: "9.00", sign: "DBIT", code: "PMNT/IDDT/UPDD" }),
      "Unpaid direct debit",
    ],
    [
      "RDDT",
      camtEntry({ amount: "9.00", sign: "DBIT", code: "PMNT/RDDT/PRDD" }),
      "payment reversal",
    ],
    ["UPCQ", camtEntry({ amount: "9.00", sign: "DBIT", code: "PMNT/RCHQ/UPCQ" }), "Unpaid cheque"],
  ])("reads a debit with %s as a return", async (_title, text, reason) => {
    const { entries, payments } = await readEntries(text);
    expect(entries.map(({ amount }) => amount)).toEqual(["-9.00"]);
    expect(payments[0]?.returned?.reason).toContain(reason);
    expect(payments[0]?.cells["applicationStatus"]).toBe("reversed");
  });

  it("reads a reversal that is written as 1", async () => {
    const reversed = (sign: string): string =>
      camtEntry({ amount: "9.00", sign, reversal: true }).replace(">true<", ">1<");
    const { entries, leftOut } = await readEntries(reversed("DBIT"), reversed("CRDT"));
    expect(entries.map(({ amount }) => amount)).toEqual(["-9.00"]);
    expect(leftOut).toHaveLength(1);
  });

  it.each([
    ["PMNT/MCOP/INTR", "Interest"],
    ["CAMT/CAPL/SWEP", "own accounts"],
    ["LDAS/FTLN/DDWN", "Loans"],
    ["PMNT/MCOP/TAXE", "Taxes"],
    ["SECU/CUST/DVCA", "Securities"],
    ["PMNT/ICDT/RRTN", "payment return"],
    ["PMNT/ICDT/ESCT", "gives back a payment of the company's own"],
  ])("leaves out a credit of %s by name", async (code, reason) => {
    const { entries, leftOut } = await readEntries(camtEntry({ amount: "9.00", code }));
    expect(entries).toEqual([]);
    expect(leftOut).toMatchObject([
      {
        leftOut: { type: `camt ${code}`, amount: "9.00", reason: expect.stringContaining(reason) },
      },
    ]);
  });

  it("leaves out debits, pending entries and tax refunds by purpose", async () => {
    const purpose = details({ amount: "3.00", more: "<Purp><Cd>TAXR</Cd></Purp>" });
    const { entries, leftOut } = await readEntries(
      camtEntry({ amount: "1.00", sign: "DBIT", code: "PMNT/RDDT/ESDD" }),
      camtEntry({ amount: "2.00", status: "PDNG" }),
      camtEntry({ amount: "3.00", details: purpose }),
    );
    expect(entries).toEqual([]);
    expect(leftOut.map((one) => one.leftOut.amount)).toEqual(["-1.00", "2.00", "3.00"]);
  });

  it("joins a debit of the company with the credit that gives it back", async () => {
    const pay = camtEntry({
      amount: "750.00",
      sign: "DBIT",
      details: details({ id: "PAY-77", amount: "750.00" }),
    });
    const back = camtEntry({
      amount: "750.00",
      reversal: true,
      details: details({ id: "PAY-77", amount: "750.00", more: RETURN }),
    });
    for (const order of [
      [pay, back],
      [back, pay],
    ]) {
      const { entries, leftOut } = await readEntries(order.join("\n"));
      expect(entries).toEqual([]);
      expect(leftOut).toHaveLength(1);
      expect(leftOut[0]?.leftOut).toMatchObject({
        amount: "0.00",
        both: { credits: "750.00", debits: "750.00" },
      });
    }
    expect((await readEntries(pay, pay, back)).leftOut).toHaveLength(2);
  });

  it("takes and leaves out the codes that a map names", async () => {
    const text = camtStatement(
      [
        camtEntry({ amount: "1.00", code: "PMNT/MCOP/INTR" }),
        camtEntry({ amount: "2.00", code: "PMNT/RCDT/BOOK" }),
      ].join(""),
    );
    const options = { take: ["PMNT/MCOP"], leaveOut: ["PMNT/RCDT/BOOK"] };
    const { entries, leftOut } = await read(text, { options });
    expect(entries.map(({ amount }) => amount)).toEqual(["1.00"]);
    expect(leftOut.map((one) => one.leftOut.amount)).toEqual(["2.00"]);
  });
});

describe("camt amounts", () => {
  const amounts = async (total: string, ...transactions: string[]) => {
    const { payments, warnings } = await readEntries(
      camtEntry({ amount: total, details: transactions.join("") }),
    );
    return { amounts: payments.map(({ amount }) => amount), payments, warnings };
  };
  const charge =
    '<Chrgs><Rcrd><Amt Ccy="EUR">15.00</Amt><CdtDbtInd>DBIT</CdtDbtInd></Rcrd></Chrgs>';

  verifies("MN-11");
  it("counts the entry's amount instead of those of its details", async () => {
    const odd = '<AmtDtls><TxAmt><Amt Ccy="EUR">0.04</Amt></TxAmt></AmtDtls>';
    const one = await amounts("4500.00", details({ more: odd }));
    expect(one.amounts).toEqual(["4500.00"]);
    expect(one.warnings).toHaveLength(1);
    const foreign = await amounts("100.00", details({ amount: "93.50", currency: "CHF" }));
    expect(foreign.amounts).toEqual(["100.00"]);
    expect(foreign.payments[0]?.cells["remittanceText"]).toBe("Amount CHF 93.5");
  });

  it("takes transactions that add up, before or after charges", async () => {
    const plain = await amounts("100.00", details({ amount: "60" }), details({ amount: "40.00" }));
    expect(plain.amounts).toEqual(["60.00", "40.00"]);
    const charged = [details({ amount: "60.00" }), details({ amount: "40.00", more: charge })];
    const net = await amounts("85.00", ...charged);
    expect(net.amounts).toEqual(["60.00", "25.00"]);
    expect(net.payments[1]?.cells["feeAmount"]).toBe(15);
    const single = await amounts("985.00", details({ amount: "1000.00", more: charge }));
    expect(single.payments).toMatchObject([{ amount: "985.00", cells: { feeAmount: 15 } }]);
    expect([plain, net, single].flatMap(({ warnings }) => warnings)).toEqual([]);
  });

  it("takes the countervalues of transactions in another currency, with the exchange rate", async () => {
    const foreign = (sent: string, arrived: string) =>
      details({
        amount: sent,
        currency: "USD",
        more: `<AmtDtls><CntrValAmt><Amt Ccy="EUR">${arrived}</Amt><CcyXchg><XchgRate>0.92</XchgRate></CcyXchg></CntrValAmt></AmtDtls>`,
      });
    const batch = await amounts("276.00", foreign("100.00", "92.00"), foreign("200.00", "184.00"));
    expect(batch.amounts).toEqual(["92.00", "184.00"]);
    expect(batch.warnings).toEqual([]);
    expect(batch.payments[0]?.cells["remittanceText"]).toBe("Amount USD 100 / Exchange rate 0.92");
  });

  it("gives one missing amount the rest", async () => {
    const rest = await amounts("429.56", details({ amount: "329.56" }), details({ id: "E-2" }));
    expect(rest.amounts).toEqual(["329.56", "100.00"]);
  });

  it("takes a batch without amounts as one payment with all texts, with a warning", async () => {
    const text = (name: string) => `<RmtInf><Ustrd>${name}</Ustrd></RmtInf>`;
    const batch = [
      details({ id: "X1", more: text("INV-1") }),
      details({ id: "X2", more: text("INV-2") }),
    ];
    const { payments, warnings } = await amounts("000000429.56", ...batch);
    expect(payments).toMatchObject([
      { amount: "429.56", references: ["X1", "X2"], cells: { remittanceText: "INV-1 / INV-2" } },
    ]);
    expect(warnings).toEqual([
      "line 1 has 2 transactions whose amounts do not add up to 429.56 EUR, and is taken as one payment",
    ]);
  });

  it("reads a return inside of a batch of credits", async () => {
    const debit = "<CdtDbtInd>DBIT</CdtDbtInd>";
    const back = details({ id: "E-2", amount: "30.00", more: `${debit}${RETURN}` });
    const mixed = await amounts("100.00", details({ amount: "130.00" }), back);
    expect(mixed.amounts).toEqual(["130.00", "-30.00"]);
    const netted = await amounts(
      "100.00",
      details({ amount: "130.00" }),
      details({ amount: "30.00", more: debit }),
    );
    expect(netted.amounts).toEqual(["100.00"]);
  });

  it("refuses a negative amount and an entry without a direction by line", async () => {
    await expect(readEntries(camtEntry({ amount: "-12.00" }))).rejects.toThrow(
      "negative amount -12.00",
    );
    await expect(readEntries(camtEntry({ amount: "1", sign: "X" }))).rejects.toThrow(
      "credit or a debit",
    );
  });
});

describe("camt remittances", () => {
  const strd = (content: string): string => `<Strd>${content}</Strd>`;
  const document = (number: string, type = "CINV"): string =>
    `<RfrdDocInf><Tp><CdOrPrtry><Cd>${type}</Cd></CdOrPrtry></Tp><Nb>${number}</Nb></RfrdDocInf>`;
  const paid = (amount: string, currency = "EUR"): string =>
    `<RfrdDocAmt><RmtdAmt Ccy="${currency}">${amount}</RmtdAmt></RfrdDocAmt>`;
  const reference = (ref: string): string => `<CdtrRefInf><Ref>${ref}</Ref></CdtrRefInf>`;
  const linesOf = async (...parts: string[]) => {
    const more = `<RmtInf>${parts.map(strd).join("")}</RmtInf>`;
    const { payments } = await readEntries(
      camtEntry({ amount: "930.00", details: details({ amount: "930.00", more }) }),
    );
    return payments[0]?.remittances.map(({ cells }) => cells);
  };
  const adjustment = (amount: string, reason: string, sign = "DBIT"): string =>
    `<AdjstmntAmtAndRsn><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${sign}</CdtDbtInd><Rsn>${reason}</Rsn><AddtlInf>about ${reason}</AddtlInf></AdjstmntAmtAndRsn>`;

  verifies("MN-14");
  it("names a document for each reference", async () => {
    expect(
      await linesOf(reference("RF1") + paid("700"), reference("RF2") + paid("230")),
    ).toMatchObject([
      { invoiceNumber: "RF1", appliedAmount: 700 },
      { invoiceNumber: "RF2", appliedAmount: 230 },
    ]);
  });

  it("reads discount and several adjustments, each with its reason", async () => {
    const amounts = `<RfrdDocAmt><DuePyblAmt Ccy="EUR">1000</DuePyblAmt><DscntApldAmt><Amt Ccy="EUR">20</Amt></DscntApldAmt>${adjustment("30", "DMGD")}${adjustment("20", "LATE")}<RmtdAmt Ccy="EUR">930</RmtdAmt></RfrdDocAmt>`;
    expect(await linesOf(document("I1") + amounts)).toMatchObject([
      {
        invoiceNumber: "I1",
        appliedAmount: 930,
        invoiceAmount: 1000,
        discountTaken: 20,
        deductionAmount: 30,
        deductionReasonCode: "DMGD",
        remittanceText: expect.stringContaining("about LATE"),
      },
      { invoiceNumber: "I1", appliedAmount: 0, deductionAmount: 20, deductionReasonCode: "LATE" },
    ]);
  });

  it("turns the sign of adjustments that add up only the other way", async () => {
    const amounts = `<RfrdDocAmt><DuePyblAmt Ccy="EUR">1000</DuePyblAmt>${adjustment("70", "X", "CRDT")}<RmtdAmt Ccy="EUR">930</RmtdAmt></RfrdDocAmt>`;
    expect(await linesOf(document("I1") + amounts)).toMatchObject([{ deductionAmount: 70 }]);
  });

  it("reduces by credit notes, and keeps orders and other currencies apart", async () => {
    const lines = await linesOf(
      document("I1") + paid("1030"),
      document("C1", "CREN") + paid("100"),
      document("P1", "PUOR"),
      document("D1", "DISP"),
      document("I2") + paid("5", "USD"),
    );
    expect(lines).toMatchObject([
      { invoiceNumber: "I1", appliedAmount: 1030 },
      { invoiceNumber: "C1", appliedAmount: -100 },
      { poNumber: "P1" },
      { invoiceNumber: "I2", remittanceText: expect.stringContaining("I2 / RmtdAmt USD 5") },
    ]);
    expect(lines?.[3]).not.toHaveProperty("appliedAmount");
  });

  verifies("MN-13");
  it("keeps every text and every reference", async () => {
    const more = `<AddtlTxInf>about the transfer</AddtlTxInf><RmtInf><Ustrd>one</Ustrd><Ustrd>two</Ustrd>${strd("<AddtlRmtInf>three</AddtlRmtInf>")}</RmtInf>`;
    const { payments, entries } = await readEntries(
      camtEntry({
        amount: "5.00",
        reference: "SVC-1",
        text: "about the entry",
        details: details({ amount: "5.00", more }).replace(
          "<Refs>",
          "<Refs><AcctSvcrRef>TX-1</AcctSvcrRef><InstrId>NOTPROVIDED</InstrId><TxId>T-1</TxId>",
        ),
      }),
    );
    expect(payments[0]).toMatchObject({
      cells: { remittanceText: "one / two / three / about the transfer / about the entry" },
      references: ["TX-1", "E-1", "T-1", "SVC-1"],
    });
    expect(entries[0]?.bankReferences).toEqual(["SVC-1", "TX-1"]);
  });

  it("names the party for which another one pays", async () => {
    const parties = "<Dbtr><Nm>Pay Service</Nm></Dbtr><UltmtDbtr><Nm>Bau Meier</Nm></UltmtDbtr>";
    const { payments } = await readEntries(
      camtEntry({
        amount: "5.00",
        details: details({ more: `<RltdPties>${parties}</RltdPties>` }),
      }),
    );
    expect(payments[0]?.cells).toMatchObject({
      payerName: "Pay Service",
      remittanceText: "Bau Meier",
    });
  });
});
