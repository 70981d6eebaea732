import { expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import {
  advise,
  bai2,
  type BankFile as File,
  camtEntry,
  camtStatement,
  NOTIFICATION,
} from "../support/bank-files.ts";
import { createMoneyCases } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

type Part = { amount: string; refs?: string; payer?: string; text?: string };

const part = ({ amount, refs = "", payer, text }: Part): string =>
  `<TxDtls><Refs>${refs}</Refs><Amt Ccy="EUR">${amount}</Amt>${
    payer === undefined ? "" : `<RltdPties><Dbtr><Pty><Nm>${payer}</Nm></Pty></Dbtr></RltdPties>`
  }${text === undefined ? "" : `<RmtInf><Ustrd>${text}</Ustrd></RmtInf>`}</TxDtls>`;

/** A statement of one entry with several payments of 300.00 in sum, unless another amount is given. */
const statement = (parts: readonly Part[], amount = "300.00"): File => [
  camtStatement(camtEntry({ amount, reference: "B9", details: parts.map(part).join("") })),
  "camt",
];

const other: Part = { amount: "200.00", refs: "<EndToEndId>E2E-2</EndToEndId>", payer: "Bolt" };

/** Facts that show that an advice is about the first payment of the entry. */
const SURE: readonly (readonly [name: string, batch: File, advice: File])[] = [
  [
    "the id that the payer gave",
    statement([{ amount: "100.00", refs: "<EndToEndId>TRACE-77</EndToEndId>" }, other]),
    advise({ day: "20260324" }),
  ],
  [
    "a further reference of the transaction",
    statement([
      {
        amount: "100.00",
        refs: "<AcctSvcrRef>T1</AcctSvcrRef><EndToEndId>E1</EndToEndId><TxId>TRACE-77</TxId>",
      },
      other,
    ]),
    advise({ day: "20260402" }),
  ],
  [
    "a reference in its text",
    statement([{ amount: "100.00", text: "Payment TRACE-7700 with thanks" }, other]),
    advise({ day: "20260328", trace: "TRACE-7700" }),
  ],
  [
    "the payer on the same day",
    statement([
      { amount: "100.00", refs: "<AcctSvcrRef>T1</AcctSvcrRef>", payer: "Acme Tools" },
      { amount: "100.00", payer: "Bolt" },
      { amount: "100.00", payer: "Corn" },
    ]),
    advise(),
  ],
];

const BOTH_ORDERS = SURE.flatMap(([name, batch, advice]) => [
  [name, "batch first", [batch, advice]] as const,
  [name, "advice first", [advice, batch]] as const,
]);

onEveryStore("advices about payments within an entry of several", (at) => {
  const { start, pay, query, paid, amounts, list, settle, undo } = createMoneyCases(at);
  const sum = async () => (await paid()).reduce((all, { amount }) => all + amount, 0);
  const documents = async () =>
    (await paid()).flatMap(({ amount, rows }) =>
      rows.flatMap(({ invoiceNumber: number }) =>
        typeof number === "string" ? [[amount, number]] : [],
      ),
    );
  const bring = async ([text, format]: File) => {
    const { report } = await pay(text, { format });
    at().clock.advance(MINUTE);
    expect(report?.rejected).toBe(0);
    return report;
  };
  /** Imports files in order, then again: the second time writes nothing. */
  const bringAll = async (...files: readonly File[]) => {
    await start("EUR");
    const reports = [];
    for (const file of files) reports.push(await bring(file));
    const before = await paid();
    for (const file of files) {
      expect(await bring(file)).toMatchObject({ written: 0, doubtful: 0 });
    }
    expect(await paid()).toEqual(before);
    return reports;
  };

  verifies("MN-01", "MN-05", "MN-12");
  it.each(BOTH_ORDERS)("counts a payment once that %s shows (%s)", async (_name, _order, files) => {
    const [first, second] = await bringAll(...files);
    expect(await list()).toEqual([]);
    expect(await sum()).toBe(300);
    expect(await documents()).toEqual([[100, "INV-7"]]);
    expect([first?.doubtful, second?.doubtful]).toEqual([0, 0]);
    // The later import is taken back, then the first one.
    expect(await undo(second?.importId)).toMatchObject({ kept: 0 });
    expect(await sum()).toBe(files[0]?.[1] === "camt" ? 300 : 100);
    expect(await undo(first?.importId)).toMatchObject({ kept: 0 });
    expect(await paid()).toEqual([]);
  });

  verifies("MN-05", "MN-12");
  it.each(BOTH_ORDERS)(
    "keeps all money that %s shows when the first import is taken back (%s)",
    async (_name, _order, files) => {
      const [first] = await bringAll(...files);
      await undo(first?.importId);
      expect(await sum()).toBe(300);
    },
  );

  const [batch, advice] = [SURE[0]?.[1], SURE[0]?.[2]] as [File, File];

  verifies("MN-12");
  it("keeps the day of the deposit beside the documents, in both orders", async () => {
    for (const files of [
      [batch, advice],
      [advice, batch],
    ]) {
      await bringAll(...files);
      const rows = await query("cashapp", ["paymentAmount", "depositDate"]);
      expect(rows).toContainEqual({ paymentAmount: 100, depositDate: "2026-03-30" });
    }
  });

  verifies("MN-12");
  it.each([["batch"], ["advices"]])(
    "gives each of two advices a payment of its own (%s first)",
    async (first) => {
      const both = statement(
        [
          { amount: "100.00", payer: "Acme Tools", refs: "<EndToEndId>TRACE-1</EndToEndId>" },
          { amount: "100.00", payer: "Acme Tools", refs: "<EndToEndId>TRACE-2</EndToEndId>" },
        ],
        "200.00",
      );
      const advices = ["2", "1"].map((place) =>
        advise({ trace: `TRACE-${place}`, control: `00000000${place}` }),
      );
      await bringAll(...(first === "batch" ? [both, ...advices] : [...advices, both]));
      expect(await amounts()).toEqual([100, 100]);
      expect(await documents()).toEqual([
        [100, "INV-7"],
        [100, "INV-7"],
      ]);
      expect(await list()).toEqual([]);
    },
  );

  verifies("MN-03", "MN-12");
  it.each([["batch"], ["advice"]])(
    "doubts an advice that may be about one of two payments (%s first), and settles it",
    async (first) => {
      const parts = [1, 2].map((place) => ({
        amount: "100.00",
        payer: "Acme Tools",
        refs: `<AcctSvcrRef>T${place}</AcctSvcrRef>`,
      }));
      const two = statement(parts, "200.00");
      const files = first === "batch" ? [two, advise()] : [advise(), two];
      for (const as of ["same", "different"] as const) {
        const [, second] = await bringAll(...files);
        expect(second).toMatchObject({ doubtful: 1 });
        expect(second?.files[0]?.totals[0]).toMatchObject({ doubtful: 100 });
        const [doubt, ...others] = await list();
        expect([doubt?.amount, others]).toEqual([100, []]);
        expect(doubt?.reason).toContain("these 100.00 EUR may be a part of its 200.00 EUR");
        expect(await amounts()).toEqual([100, 100, 100]);
        const doubtful = (await paid()).filter(({ rows }) => rows[0]?.["doubt"] !== null);
        expect(doubtful.map(({ id }) => id)).toEqual(doubt?.paymentIds);
        expect(second?.files[0]?.doubts[0]?.paymentId).toBe(doubt?.paymentIds[0]);
        await settle(as, doubt?.id);
        expect(await amounts()).toEqual(as === "same" ? [100, 100] : [100, 100, 100]);
        expect((await paid()).every(({ rows }) => rows[0]?.["doubt"] === null)).toBe(true);
        expect(await list()).toEqual([]);
        for (const file of files) expect((await bring(file))?.written).toBe(0);
        expect(await amounts()).toEqual(as === "same" ? [100, 100] : [100, 100, 100]);
      }
    },
  );

  verifies("MN-03", "MN-05");
  it.each([["batch"], ["advice"]])(
    "takes back the later of two files whose money is doubtful (%s first)",
    async (first) => {
      const near = statement([{ amount: "100.00", payer: "Acme Tools" }, other]);
      const late = advise({ day: "20260327", trace: "TRACE-9" });
      const files = first === "batch" ? [near, late] : [late, near];
      const [one, two] = await bringAll(...files);
      expect(await list()).toHaveLength(1);
      expect(await undo(two?.importId)).toMatchObject({ kept: 0 });
      expect(await list()).toEqual([]);
      expect(await sum()).toBe(first === "batch" ? 300 : 100);
      expect((await paid()).every(({ rows }) => rows[0]?.["doubt"] === null)).toBe(true);
      expect(await undo(one?.importId)).toMatchObject({ kept: 0 });
      expect(await paid()).toEqual([]);
    },
  );

  verifies("MN-03");
  it("doubts an advice that comes in two interchanges, beside the payment of the batch", async () => {
    for (const files of [
      [batch, advice, advise({ day: "20260324", control: "000000043" })],
      [advice, batch, advise({ day: "20260324", control: "000000043" })],
    ]) {
      await bringAll(...files);
      expect(await amounts()).toEqual([100, 100, 200]);
      const [doubt] = await list();
      await settle("same", doubt?.id);
      expect(await amounts()).toEqual([100, 200]);
      expect(await documents()).toEqual([[100, "INV-7"]]);
    }
  });

  verifies("MN-01", "MN-12");
  it("counts a payment once that a notification, a statement and an advice have, in every order", async () => {
    const single: File = [
      camtStatement(
        camtEntry({
          amount: "100.00",
          reference: "T1",
          details: part({ amount: "100.00", refs: "<EndToEndId>TRACE-77</EndToEndId>" }),
        }),
        NOTIFICATION,
      ),
      "camt",
    ];
    for (const files of [
      [batch, advice, single],
      [batch, single, advice],
      [advice, batch, single],
      [advice, single, batch],
      [single, advice, batch],
      [single, batch, advice],
    ]) {
      await bringAll(...files);
      expect(await amounts()).toEqual([100, 200]);
      expect(await documents()).toEqual([[100, "INV-7"]]);
      expect(await list()).toEqual([]);
    }
  });

  verifies("MN-01");
  it("keeps a deposit of its own beside the payment that an advice is about", async () => {
    const named = statement([{ amount: "100.00", payer: "Acme Tools" }, other]);
    const deposit: File = [
      camtStatement(
        camtEntry({
          amount: "100.00",
          reference: "X1",
          details: part({ amount: "100.00", payer: "Acme Tools" }),
        }),
      ).replace("<Id>S1</Id>", "<Id>S2</Id>"),
      "camt",
    ];
    await bringAll(named, advise(), deposit);
    expect(await amounts()).toEqual([100, 100, 200]);
    await bringAll(advise(), named, deposit);
    expect(await amounts()).toEqual([100, 100, 200]);
  });

  verifies("MN-01");
  it("leaves advices of other amounts, currencies, days and payers alone", async () => {
    const named = statement([{ amount: "100.00", payer: "Acme Tools" }, other]);
    for (const far of [
      advise({ amount: "100.01" }),
      advise({ day: "20260415" }),
      advise({ payer: "Elsewhere" }),
      [advise()[0].replace("CUR*PR*EUR", "CUR*PR*USD"), "edi820"] as const,
    ]) {
      for (const files of [
        [named, far],
        [far, named],
      ]) {
        await bringAll(...files);
        expect(await amounts()).toHaveLength(3);
        expect(await list()).toEqual([]);
      }
    }
  });

  verifies("MN-12");
  it.each([["deposit"], ["advice"]])(
    "counts an item of a BAI2 deposit once that an advice is about (%s first)",
    async (first) => {
      const deposit: File = [
        bai2(
          [
            { type: "142", cents: "30000", bank: "DEP1" },
            { type: "143", cents: "10000", bank: "I1", customer: "TRACE-77" },
            { type: "143", cents: "20000", bank: "I2" },
          ],
          { currency: "EUR", sum: 500_100n },
        ),
        "bai2",
      ];
      const about = advise({ day: "20260228" });
      await bringAll(...(first === "deposit" ? [deposit, about] : [about, deposit]));
      expect(await amounts()).toEqual([100, 200]);
      expect(await documents()).toEqual([[100, "INV-7"]]);
      expect(await list()).toEqual([]);
    },
  );
});
