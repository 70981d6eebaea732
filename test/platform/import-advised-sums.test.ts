import { expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import {
  advise,
  type BankFile,
  camtEntry,
  camtStatement,
  NOTIFICATION,
} from "../support/bank-files.ts";
import { createMoneyCases } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const statement = (reference: string, details: string): BankFile => [
  camtStatement(camtEntry({ amount: "300.00", reference, details })),
  "camt",
];

/** Ways in which a bank names the trace number of advices in one amount for several payments. */
const NAMED: Readonly<Record<string, BankFile>> = {
  "the reference of the bank": statement("TRACE-77", ""),
  "the id of the collection": statement(
    "B9",
    "<Btch><PmtInfId>TRACE-77</PmtInfId><NbOfTxs>2</NbOfTxs></Btch>",
  ),
  "a transaction without an amount": statement(
    "B9",
    ["TRACE-77", "TRACE-78"]
      .map((one) => `<TxDtls><Refs><AcctSvcrRef>${one}</AcctSvcrRef></Refs></TxDtls>`)
      .join(""),
  ),
};

const [first, second] = [
  advise({ control: "000000043", day: "20260328" }),
  advise({ control: "000000044", amount: "200.00", payer: "BOLT" }),
];

const orders = (deposit: BankFile): readonly (readonly [string, readonly BankFile[]])[] => [
  ["deposit, advice, advice", [deposit, first, second]],
  ["advice, deposit, advice", [first, deposit, second]],
  ["advice, advice, deposit", [first, second, deposit]],
  ["the other advice, deposit, advice", [second, deposit, first]],
];

const CASES = Object.entries(NAMED).flatMap(([by, deposit]) =>
  orders(deposit).map(([order, files]) => ({ by, order, files })),
);

const deposit = statement("TRACE-77", "");

onEveryStore("advices about one amount of a bank", (at) => {
  const { start, pay, paid, amounts, list, settle, undo } = createMoneyCases(at);
  const bring = async ([text, format]: BankFile) => {
    const { report } = await pay(text, { format });
    at().clock.advance(MINUTE);
    return report;
  };
  /** Imports files in order, then again: the second time writes nothing. */
  const bringAll = async (...files: readonly BankFile[]) => {
    await start("EUR");
    const reports = [];
    for (const file of files) reports.push(await bring(file));
    const before = await paid();
    for (const file of files) {
      expect(await bring(file)).toMatchObject({ written: 0, doubtful: 0, rejected: 0 });
    }
    expect(await paid()).toEqual(before);
    return reports;
  };

  verifies("MN-01", "MN-12");
  it.each(CASES)("counts once what $by shows ($order)", async ({ files }) => {
    const reports = await bringAll(...files);
    expect(await amounts()).toEqual([100, 200]);
    expect(await list()).toEqual([]);
    expect((await paid()).map(({ rows }) => [rows.length, rows[0]?.["invoiceNumber"]])).toEqual([
      [1, "INV-7"],
      [1, "INV-7"],
    ]);
    for (const report of reports.toReversed()) {
      expect(await undo(report?.importId)).toMatchObject({ kept: 0 });
    }
    expect(await paid()).toEqual([]);
  });

  verifies("MN-03", "MN-12");
  it.each([
    ["deposit", [deposit, first], 100, "these 100.00 EUR may be a part of its 300.00 EUR"],
    ["advice", [first, deposit], 300, "its 100.00 EUR may be a part of these 300.00 EUR"],
  ] as const)(
    "doubts an advice about a part of a deposit (%s first)",
    async (_name, files, doubtful, reason) => {
      await bringAll(...files);
      const [doubt, ...others] = await list();
      expect([doubt?.amount, others]).toEqual([doubtful, []]);
      expect(doubt?.reason).toContain(reason);
      await settle("same", doubt?.id);
      expect([await amounts(), await list()]).toEqual([[100, 200], []]);
      expect(await bring(second)).toMatchObject({ doubtful: 0 });
      expect(await amounts()).toEqual([100, 200]);

      await bringAll(...files);
      await settle("different", (await list())[0]?.id);
      expect([await amounts(), await list()]).toEqual([[100, 300], []]);
    },
  );

  verifies("MN-12");
  it("joins the bank's own entries of the payments to the advices about them", async () => {
    const notification: BankFile = [
      camtStatement(
        ["100.00", "200.00"].map((amount) => camtEntry({ amount, reference: "TRACE-77" })).join(""),
        NOTIFICATION,
      ).replace("<Id>S1</Id>", "<Id>N1</Id>"),
      "camt",
    ];
    for (const files of [
      [deposit, first, second, notification],
      [deposit, notification, first, second],
      [notification, deposit, second, first],
      [first, second, notification, deposit],
      [first, notification, deposit, second],
    ]) {
      await bringAll(...files);
      expect([await amounts(), await list()]).toEqual([[100, 200], []]);
    }
  });

  verifies("MN-03");
  it("leaves advices of other references, currencies, days and amounts alone", async () => {
    for (const other of [
      advise({ trace: "TRACE-9" }),
      advise({ day: "20260415" }),
      [first[0].replace("CUR*PR*EUR", "CUR*PR*USD"), "edi820"] as const,
    ]) {
      await bringAll(deposit, other);
      expect([await amounts(), await list()]).toEqual([[100, 300], []]);
      await bringAll(other, deposit);
      expect([await amounts(), await list()]).toEqual([[100, 300], []]);
    }
    await bringAll(deposit, advise({ amount: "300.01" }));
    expect([await amounts(), await list()]).toEqual([[300, 300.01], []]);
  });
});
