import { expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { bai2, camtEntry, camtStatement, NOTIFICATION } from "../support/bank-files.ts";
import { createMoneyCases, listAmounts } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const camt = { format: "camt" } as const;

type Single = { amount: string; reference?: string; refs?: string; invoice?: string };

const details = ({ amount, refs = "", invoice }: Single): string =>
  `<TxDtls><Refs>${refs}</Refs><Amt Ccy="EUR">${amount}</Amt>${
    invoice === undefined
      ? ""
      : `<RmtInf><Strd><RfrdDocInf><Nb>${invoice}</Nb></RfrdDocInf></Strd></RmtInf>`
  }</TxDtls>`;

/** A notification with an entry for each payment. */
const notify = (id: string, ...singles: readonly Single[]): string =>
  camtStatement(
    singles.map((one) => camtEntry({ ...one, details: details(one) })).join(""),
    NOTIFICATION,
  ).replace("<Id>S1</Id>", `<Id>${id}</Id>`);

type Batch = { batch: string; singles: readonly [Single, Single] };

const of = (
  refs: (place: 1 | 2) => string,
  reference?: (place: 1 | 2) => string,
): Batch["singles"] => [
  { amount: "100.00", refs: refs(1), ...(reference && { reference: reference(1) }) },
  { amount: "200.00", refs: refs(2), ...(reference && { reference: reference(2) }) },
];

const btch = (content: string): string =>
  `<Btch>${content}<NbOfTxs>2</NbOfTxs><TtlAmt Ccy="EUR">300.00</TtlAmt></Btch>`;

/** Ways in which banks connect a batch, which the statement has as one amount, with its payments. */
const CONNECTED: readonly (readonly [name: string, batch: Batch])[] = [
  [
    "the reference of the batch",
    {
      batch: camtEntry({ amount: "300.00", reference: "BATCH1" }),
      singles: of(
        () => "",
        () => "BATCH1",
      ),
    },
  ],
  [
    "the reference of the batch in the details",
    {
      batch: camtEntry({ amount: "300.00", reference: "BATCH1" }),
      singles: of(() => "<AcctSvcrRef>BATCH1</AcctSvcrRef>"),
    },
  ],
  [
    "the id of the collection",
    {
      batch: camtEntry({
        amount: "300.00",
        reference: "B9",
        details: btch("<PmtInfId>COLL-7</PmtInfId>"),
      }),
      singles: of(
        () => "<PmtInfId>COLL-7</PmtInfId>",
        (place) => `T${place}`,
      ),
    },
  ],
  [
    "the id of the message",
    {
      batch: camtEntry({
        amount: "300.00",
        reference: "B9",
        details: btch("<MsgId>MSG-7</MsgId>"),
      }),
      singles: of(
        () => "<MsgId>MSG-7</MsgId>",
        (place) => `T${place}`,
      ),
    },
  ],
  [
    "references of transactions without amounts",
    {
      batch: camtEntry({
        amount: "300.00",
        reference: "B9",
        details: ["T1", "T2"]
          .map((one) => `<TxDtls><Refs><AcctSvcrRef>${one}</AcctSvcrRef></Refs></TxDtls>`)
          .join(""),
      }),
      singles: of(
        () => "",
        (place) => `T${place}`,
      ),
    },
  ],
  [
    "references of transactions",
    {
      batch: camtEntry({
        amount: "300.00",
        reference: "B9",
        details: of((place) => `<AcctSvcrRef>T${place}</AcctSvcrRef>`)
          .map(details)
          .join(""),
      }),
      singles: of(
        () => "",
        (place) => `T${place}`,
      ),
    },
  ],
  [
    "the ids that the payers gave",
    {
      batch: camtEntry({
        amount: "300.00",
        reference: "B9",
        details: of((place) => `<EndToEndId>E2E-${place}</EndToEndId>`)
          .map(details)
          .join(""),
      }),
      singles: of(
        (place) => `<EndToEndId>E2E-${place}</EndToEndId>`,
        (place) => `T${place}`,
      ),
    },
  ],
];

const BOTH_ORDERS = CONNECTED.flatMap(([name, batch]) => [
  [name, "before", batch] as const,
  [name, "after", batch] as const,
]);

onEveryStore("batches and their payments in other messages", (at) => {
  const { start, pay, paid, amounts, list, settle, undo } = createMoneyCases(at);
  /** Imports files in order, then again: the second time writes nothing. */
  const bringAll = async (...files: readonly string[]) => {
    await start("EUR");
    const reports = [];
    for (const file of files) {
      reports.push((await pay(file, camt)).report);
      at().clock.advance(MINUTE);
    }
    const before = await paid();
    for (const file of files) {
      expect((await pay(file, camt)).report).toMatchObject({
        written: 0,
        doubtful: 0,
        rejected: 0,
      });
    }
    expect(await paid()).toEqual(before);
    return reports;
  };

  verifies("MN-01", "MN-12");
  it.each(BOTH_ORDERS)(
    "counts payments once that %s connects with a batch %s them",
    async (_name, order, { batch, singles }) => {
      const [statement, notification] = [camtStatement(batch), notify("N1", ...singles)];
      const files = order === "before" ? [statement, notification] : [notification, statement];
      const [first, second] = await bringAll(...files);
      expect(first).toMatchObject({ doubtful: 0, unchanged: 0 });
      expect(second).toMatchObject({ doubtful: 0 });
      expect(await amounts()).toEqual([100, 200]);
      expect(await list()).toEqual([]);
      // The later import is taken back, then the first one.
      expect(await undo(second?.importId)).toMatchObject({ kept: 0 });
      expect((await paid()).reduce((sum, { amount }) => sum + amount, 0)).toBe(300);
      expect(await undo(first?.importId)).toMatchObject({ kept: 0 });
      expect(await paid()).toEqual([]);
    },
  );

  verifies("MN-05", "MN-12");
  it.each(BOTH_ORDERS)(
    "keeps money that %s connects with a batch %s it when the first import is taken back",
    async (_name, order, { batch, singles }) => {
      const [statement, notification] = [camtStatement(batch), notify("N1", ...singles)];
      const files = order === "before" ? [statement, notification] : [notification, statement];
      const [first] = await bringAll(...files);
      await undo(first?.importId);
      expect((await paid()).reduce((sum, { amount }) => sum + amount, 0)).toBe(300);
    },
  );

  const lump = camtStatement(camtEntry({ amount: "300.00", reference: "BATCH1" }));
  const half = notify("N1", { amount: "100.00", reference: "BATCH1" });
  const rest = notify("N2", { amount: "200.00", reference: "BATCH1" });

  verifies("MN-12");
  it.each([
    ["batch, part, part", [lump, half, rest]],
    ["part, batch, part", [half, lump, rest]],
    ["part, part, batch", [half, rest, lump]],
  ])("counts payments of two files once beside their batch (%s)", async (_name, files) => {
    await bringAll(...files);
    expect(await amounts()).toEqual([100, 200]);
    expect(await list()).toEqual([]);
    expect((await paid()).map(({ rows }) => rows[0]?.["doubt"])).toEqual([null, null]);
  });

  verifies("MN-03", "MN-12");
  it.each([
    ["batch", [lump, half], 100, "these 100.00 EUR may be a part of its 300.00 EUR"],
    ["part", [half, lump], 300, "its 100.00 EUR may be a part of these 300.00 EUR"],
  ] as const)(
    "doubts a part of a batch beside it, and divides the batch if it is the same (%s first)",
    async (_name, files, doubtful, reason) => {
      await bringAll(...files);
      const [doubt, ...others] = await list();
      expect([doubt?.amount, others]).toEqual([doubtful, []]);
      expect(doubt?.reason).toContain(reason);
      await settle("same", doubt?.id);
      expect(await amounts()).toEqual([100, 200]);
      expect((await paid()).map(({ unapplied, rows }) => [unapplied, rows[0]?.["doubt"]])).toEqual(
        (await paid()).map(({ amount }) => [amount, null]),
      );
      expect(await list()).toEqual([]);
      for (const file of files) expect((await pay(file, camt)).report?.written).toBe(0);
      // The rest comes later, and is what was left.
      expect((await pay(rest, camt)).report).toMatchObject({ doubtful: 0 });
      expect(await amounts()).toEqual([100, 200]);
      for (const file of [...files, rest]) expect((await pay(file, camt)).report?.written).toBe(0);
    },
  );

  verifies("MN-03");
  it.each([
    ["batch", [lump, half]],
    ["part", [half, lump]],
  ] as const)("keeps a batch and another payment apart (%s first)", async (_name, files) => {
    await bringAll(...files);
    const [doubt] = await list();
    await settle("different", doubt?.id);
    expect(await amounts()).toEqual([100, 300]);
    expect(await list()).toEqual([]);
    for (const file of files) expect((await pay(file, camt)).report?.written).toBe(0);
  });

  verifies("MN-12");
  it("takes the payments of a batch that have come, and writes the others", async () => {
    const batch = camtEntry({
      amount: "300.00",
      reference: "B9",
      details: of((place) => `<AcctSvcrRef>T${place}</AcctSvcrRef>`)
        .map(details)
        .join(""),
    });
    const one = notify("N1", { amount: "100.00", reference: "T1", invoice: "INV-1" });
    await bringAll(one, camtStatement(batch));
    expect(await amounts()).toEqual([100, 200]);
    await bringAll(camtStatement(batch), one);
    expect(await amounts()).toEqual([100, 200]);
    const named = (await paid()).map(({ amount, rows }) => [amount, rows[0]?.["invoiceNumber"]]);
    expect(named).toContainEqual([100, "INV-1"]);
  });

  verifies("MN-12");
  it.each([["before"], ["after"]])(
    "counts the many payments of a batch once when it comes %s them",
    async (order) => {
      const many = Array.from({ length: 1100 }, (_, place) => ({
        amount: `${place + 1}.00`,
        reference: "BATCH1",
        refs: `<EndToEndId>E2E-${place}</EndToEndId>`,
      }));
      const batch = camtStatement(camtEntry({ amount: "605550.00", reference: "BATCH1" }));
      const files = [batch, notify("N1", ...many)];
      const [, second] = await bringAll(...(order === "before" ? files : files.toReversed()));
      // The first 1,000 are doubtful until the others come, which add up with them to the batch.
      expect(second).toMatchObject({ doubtful: 0 });
      expect(second?.files[0]?.doubts).toEqual([]);
      expect(second?.files[0]?.totals[0]).toMatchObject({ doubtful: 0 });
      const all = await amounts();
      expect([all.length, all.reduce((sum, one) => sum + one, 0)]).toEqual([1100, 605_550]);
      expect(await list()).toEqual([]);
    },
  );

  verifies("MN-12");
  it("doubles nothing when a batch is in a report and a statement, before and after its payments", async () => {
    const entry = camtEntry({ amount: "300.00", reference: "BATCH1" });
    const report = camtStatement(entry, {
      message: "BkToCstmrAcctRpt",
      statement: "Rpt",
      version: "052.001.08",
    });
    const singles = notify(
      "N1",
      { amount: "100.00", reference: "BATCH1" },
      { amount: "200.00", reference: "BATCH1" },
    );
    for (const files of [
      [report, lump, singles],
      [report, singles, lump],
      [singles, report, lump],
    ]) {
      await bringAll(...files);
      expect(await amounts()).toEqual([100, 200]);
    }
  });

  verifies("MN-03");
  it("leaves payments of other accounts, days, currencies and sums alone", async () => {
    const other = { ...NOTIFICATION, account: "DE02120300000000202051" };
    const entry = camtEntry({ amount: "100.00", reference: "BATCH1" });
    await bringAll(lump, camtStatement(entry, other));
    expect([await amounts(), await list()]).toEqual([[100, 300], []]);
    const dates = "<ValDt><Dt>2026-05-30</Dt></ValDt>";
    await bringAll(
      lump,
      notify("N1", { amount: "100.00", reference: "BATCH1" }).replaceAll(
        "<ValDt><Dt>2026-03-30</Dt></ValDt>",
        dates,
      ),
    );
    expect([await amounts(), await list()]).toEqual([[100, 300], []]);
  });

  verifies("MN-12");
  it.each([["deposit"], ["items"]])(
    "counts a deposit of BAI2 and the items of another file once (%s first)",
    async (first) => {
      await start("USD");
      const deposit = bai2([{ cents: "30000", bank: "DEP77", text: "DEPOSIT" }], { file: "1" });
      const items = bai2(
        [
          { cents: "10000", bank: "DEP77", customer: "CHK1", text: "ACME" },
          { cents: "20000", bank: "DEP77", customer: "CHK2", text: "BOLT" },
        ],
        { file: "2" },
      );
      const files = first === "deposit" ? [deposit, items] : [items, deposit];
      for (const file of files) await pay(file, { format: "bai2" });
      expect(listAmounts(await paid())).toEqual([
        [200, "USD"],
        [100, "USD"],
      ]);
      for (const file of files) {
        expect((await pay(file, { format: "bai2" })).report).toMatchObject({ written: 0 });
      }
      expect(await list()).toEqual([]);
    },
  );
});
