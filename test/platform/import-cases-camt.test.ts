import { expect, it } from "vitest";
import { camtEntry, camtStatement } from "../support/bank-files.ts";
import { createMoneyCases, documentsFile, listAmounts, textOf } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const tx = (id: string, content: string): string =>
  `<TxDtls><Refs><EndToEndId>${id}</EndToEndId></Refs>${content}</TxDtls>`;
const amount = (value: string): string => `<Amt Ccy="EUR">${value}</Amt>`;
const debtor = (name: string): string =>
  `<RltdPties><Dbtr><Pty><Nm>${name}</Nm></Pty></Dbtr></RltdPties>`;
const strd = (...parts: readonly string[]): string =>
  `<RmtInf>${parts.map((part) => `<Strd>${part}</Strd>`).join("")}</RmtInf>`;
const ustrd = (text: string): string => `<RmtInf><Ustrd>${text}</Ustrd></RmtInf>`;
const invoice = (number: string, paid: string): string =>
  `<RfrdDocInf><Tp><CdOrPrtry><Cd>CINV</Cd></CdOrPrtry></Tp><Nb>${number}</Nb></RfrdDocInf><RfrdDocAmt><RmtdAmt Ccy="EUR">${paid}</RmtdAmt></RfrdDocAmt>`;
const reference = (number: string, paid: string): string =>
  `<CdtrRefInf><Tp><CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry></Tp><Ref>${number}</Ref></CdtrRefInf><RfrdDocAmt><RmtdAmt Ccy="EUR">${paid}</RmtdAmt></RfrdDocAmt>`;

const camt = { format: "camt" } as const;

onEveryStore("cases of public reports: camt", (at) => {
  const { start, bring, pay, paid } = createMoneyCases(at);

  verifies("MN-10");
  it("camt-credit-reversal: leaves a credit out that gives back the company's own payment", async () => {
    await start("EUR");
    const returned = tx("PAY-77", `${amount("750.00")}<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>`);
    const entries = [
      camtEntry({
        amount: "750.00",
        sign: "DBIT",
        reference: "B1",
        details: tx("PAY-77", amount("750.00")),
      }),
      camtEntry({ amount: "750.00", reversal: true, reference: "B2", details: returned }),
    ];
    const { exit, report } = await pay(camtStatement(entries.join("")), camt);
    expect([exit, report?.written, report?.leftOut]).toEqual([0, 0, 1]);
    const listed = report?.files.flatMap(({ entriesLeftOut }) => entriesLeftOut) ?? [];
    expect(listed.map(({ reason }) => reason).every((text) => text !== "")).toBe(true);
    const totals = report?.files.flatMap((file) => file.totals);
    expect(totals).toMatchObject([
      { currencyCode: "EUR", credits: 750, debits: 750, returned: 0, leftOut: 0 },
    ]);
    expect(await paid()).toEqual([]);
  });

  verifies("MN-11");
  it("camt-amount-details-differ: takes the amount of the entry", async () => {
    await start("CHF");
    const details = `<AmtDtls><InstdAmt><Amt Ccy="CHF">4500.00</Amt></InstdAmt><TxAmt><Amt Ccy="CHF">0.04</Amt></TxAmt><PrtryAmt><Tp>IBS</Tp><Amt Ccy="CHF">0.03</Amt></PrtryAmt></AmtDtls>`;
    const swiss = camtEntry({
      amount: "4500.00",
      currency: "CHF",
      reference: "1340044232",
      details: `<TxDtls>${details}${ustrd("Practice by the pond")}</TxDtls>`,
    });
    const charges = `<Chrgs><Rcrd><Amt Ccy="EUR">15.00</Amt><CdtDbtInd>DBIT</CdtDbtInd></Rcrd></Chrgs>`;
    const german = camtEntry({
      amount: "985.00",
      reference: "G1",
      details: tx("CH-1", amount("1000.00") + charges + debtor("Payer")),
    });
    const first = await pay(camtStatement(swiss, { account: "CH9300762011623852957" }), camt);
    const second = await pay(camtStatement(german), camt);
    expect([first.exit, second.exit]).toEqual([0, 0]);
    const payments = await paid();
    expect(listAmounts(payments)).toEqual([
      [4500, "CHF"],
      [985, "EUR"],
    ]);
    expect(payments.map(({ unapplied }) => unapplied).toSorted()).toEqual([4500, 985]);
  });

  verifies("MN-11");
  it("camt-batch-without-amounts: keeps the sum and the texts of a batch", async () => {
    await start("EUR");
    const batch = [
      tx("X1", debtor("P1") + ustrd("INV-1")),
      tx("X2", debtor("P2") + ustrd("INV-2")),
    ].join("");
    const entry = camtEntry({
      amount: "000000000000429.56",
      reference: "H1",
      details: `<Btch><NbOfTxs>2</NbOfTxs></Btch>${batch}`,
    });
    const { exit, warned } = await pay(camtStatement(entry), camt);
    expect([exit, warned.length > 0]).toEqual([0, true]);
    const payments = await paid();
    expect(listAmounts(payments)).toEqual([[429.56, "EUR"]]);
    expect(payments.map(textOf).join("")).toMatch(/INV-1.*INV-2/);

    await start("EUR");
    const partly = tx("X3", amount("329.56") + debtor("P1")) + tx("X4", debtor("P2"));
    const known = camtEntry({ amount: "429.56", reference: "H2", details: partly });
    expect((await pay(camtStatement(known), camt)).exit).toBe(0);
    const sum = (await paid()).reduce((all, one) => all + one.amount, 0);
    expect(sum).toBeCloseTo(429.56, 6);
  });

  verifies("MN-13", "MN-30");
  it("camt-ustrd-and-addtlntryinf: keeps the texts and suggests what they name", async () => {
    await start("EUR", {
      accounts: ["Customer C1"],
      documents: { "INV-2001": "119.00", "INV-2002": "240.00" },
    });
    const named = camtEntry({
      amount: "119.00",
      reference: "I1",
      details: tx("NOTPROVIDED", amount("119.00") + debtor("Bau Meier") + ustrd("INV-2001")),
    });
    const told = camtEntry({
      amount: "240.00",
      reference: "TRANSFER-1",
      text: "Received money from Nordlicht Handel GmbH with reference INV-2002",
    });
    expect((await pay(camtStatement(named), camt)).exit).toBe(0);
    expect((await pay(camtStatement(told), camt)).exit).toBe(0);
    const payments = await paid();
    expect(listAmounts(payments)).toEqual([
      [240, "EUR"],
      [119, "EUR"],
    ]);
    const [one] = payments.filter(({ amount: size }) => size === 119);
    expect(one?.rows).toMatchObject([
      { payerName: "Bau Meier", remittanceText: "INV-2001", documentNumber: "INV-2001" },
    ]);
    const [other] = payments.filter(({ amount: size }) => size === 240);
    expect(String(other?.rows[0]?.["remittanceText"])).toMatch(/Nordlicht Handel GmbH.*INV-2002/);
  });

  verifies("MN-14");
  it("camt-several-references: pays one document per reference", async () => {
    const documents = {
      RF18539007547034: "400.00",
      RF471234567890: "250.00",
      RF712348231: "50.00",
    };
    await start("EUR", { accounts: ["Customer C1"], documents });
    const references = Object.entries(documents).map(([number, paidAmount]) =>
      reference(number, paidAmount),
    );
    const details = tx("MR-1", amount("700.00") + debtor("C1") + strd(...references));
    const entry = camtEntry({ amount: "700.00", reference: "MR1", details });
    expect((await pay(camtStatement(entry), camt)).exit).toBe(0);
    expect(await paid()).toMatchObject([
      {
        amount: 700,
        applied: 700,
        unapplied: 0,
        documents: { RF18539007547034: 400, RF471234567890: 250, RF712348231: 50 },
      },
    ]);
  });

  verifies("MN-14");
  it("camt-adjustment-and-discount: shows the discount and the deduction with its reason", async () => {
    await start("EUR", { accounts: ["Customer C1"], documents: { "INV-1100": "1000.00" } });
    const amounts = `<RfrdDocAmt><DuePyblAmt Ccy="EUR">1000.00</DuePyblAmt><DscntApldAmt><Amt Ccy="EUR">20.00</Amt></DscntApldAmt><AdjstmntAmtAndRsn><Amt Ccy="EUR">50.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Rsn>DMGD</Rsn><AddtlInf>2 pallets damaged</AddtlInf></AdjstmntAmtAndRsn><RmtdAmt Ccy="EUR">930.00</RmtdAmt></RfrdDocAmt>`;
    const named = `<RfrdDocInf><Nb>INV-1100</Nb></RfrdDocInf>${amounts}`;
    const details = tx("AD-1", amount("930.00") + debtor("C1") + strd(named));
    const entry = camtEntry({ amount: "930.00", reference: "AD1", details });
    expect((await pay(camtStatement(entry), camt)).exit).toBe(0);
    const payments = await paid();
    expect(payments).toMatchObject([
      {
        amount: 930,
        applied: 930,
        unapplied: 0,
        documents: { "INV-1100": 930 },
        discount: 20,
        deductions: { DMGD: 50 },
      },
    ]);
    expect(payments.map(textOf).join("")).toContain("2 pallets damaged");
  });

  verifies("MN-16", "MN-11");
  it("camt-no-dates-and-negative: takes the day of the balance, and refuses a negative amount", async () => {
    await start("EUR");
    const balance = `<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp>${amount("10.00")}<CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-03-31</Dt></Dt></Bal>`;
    const undated = camtEntry({ amount: "10.00", dates: "", reference: "Z1" });
    expect((await pay(camtStatement(balance + undated), camt)).exit).toBe(0);
    expect(await paid()).toMatchObject([{ amount: 10, day: "2026-03-31" }]);
    const negative = camtEntry({ amount: "-12.00", reference: "N1" });
    expect((await pay(camtStatement(negative), camt)).exit).toBe(1);
    expect((await paid()).length).toBe(1);
  });

  verifies("MN-30");
  it("end-to-end-id-is-other-invoice: applies nothing to the invoice of another customer", async () => {
    await start("EUR", { accounts: ["Acme", "Bolt"] });
    await bring("documents", documentsFile({ "20260330": "500.00" }, "EUR", "C2"));
    const details = tx("20260330", amount("75.00") + debtor("Other GmbH"));
    const entry = camtEntry({ amount: "75.00", reference: "Q1", details });
    expect((await pay(camtStatement(entry), camt)).exit).toBe(0);
    const payments = await paid();
    expect(payments).toMatchObject([{ amount: 75, applied: 0, unapplied: 75 }]);
  });

  verifies("MN-31", "MN-32");
  it("bank-paid-twice-and-before-invoice: pays an invoice once, and one that comes later", async () => {
    await start("EUR", { accounts: ["Customer C1"], documents: { "INV-5": "1000.00" } });
    const paying = (id: string, day: string): string =>
      camtEntry({
        amount: "1000.00",
        dates: `<ValDt><Dt>${day}</Dt></ValDt>`,
        reference: id,
        details: tx(id, amount("1000.00") + debtor("X") + strd(invoice("INV-5", "1000.00"))),
      });
    const entries = paying("D-1", "2026-03-30") + paying("D-2", "2026-03-31");
    expect((await pay(camtStatement(entries), camt)).exit).toBe(0);
    expect((await paid()).map(({ applied, unapplied }) => [applied, unapplied])).toEqual([
      [1000, 0],
      [0, 1000],
    ]);
    const early = tx("B-1", amount("119.00") + debtor("X") + strd(invoice("INV-77", "119.00")));
    const entry = camtEntry({ amount: "119.00", reference: "R1", details: early });
    expect((await pay(camtStatement(entry), camt)).exit).toBe(0);
    await bring("documents", documentsFile({ "INV-77": "119.00" }, "EUR"));
    expect((await paid()).filter(({ amount: size }) => size === 119)).toMatchObject([
      { applied: 119, unapplied: 0, documents: { "INV-77": 119 } },
    ]);
  });
});
