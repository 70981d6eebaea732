import { expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { camtEntry, camtStatement, NOTIFICATION } from "../support/bank-files.ts";
import { createMoneyCases } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const camt = { format: "camt" } as const;

/** Three direct debits that come back together. */
const DEBITS = [
  { amount: "100.00", name: "1" },
  { amount: "120.00", name: "2" },
  { amount: "80.00", name: "3" },
] as const;

type Debit = (typeof DEBITS)[number];

const withId = (text: string, id: string): string => text.replace("<Id>S1</Id>", `<Id>${id}</Id>`);

const collected = withId(
  camtStatement(
    DEBITS.map(({ amount, name }) =>
      camtEntry({
        amount,
        reference: `O${name}`,
        details: `<TxDtls><Refs><EndToEndId>E2E-${name}</EndToEndId></Refs><Amt Ccy="EUR">${amount}</Amt></TxDtls>`,
      }),
    ).join(""),
  ),
  "S0",
);

/** The references of the returned debit: the payer's, and that of the bank at its first booking. */
const REFERENCES: Readonly<Record<string, (name: string) => string>> = {
  "the payer's": (name) => `<EndToEndId>E2E-${name}</EndToEndId>`,
  "the bank's": (name) => `<AcctSvcrRef>O${name}</AcctSvcrRef><EndToEndId>E2E-${name}</EndToEndId>`,
};

const back = (refs: string, { amount }: Debit): string =>
  `<TxDtls><Refs>${refs}</Refs><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd><RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf></TxDtls>`;

const returned = (amount: string, details: string): string =>
  camtEntry({ amount, sign: "DBIT", code: "PMNT/IDDT/UPDD", reference: "R1", details });

const LUMP = camtStatement(returned("300.00", "<Btch><NbOfTxs>3</NbOfTxs></Btch>"));

const filesOf = (refs: (name: string) => string) => {
  const single = (debit: Debit) => returned(debit.amount, back(refs(debit.name), debit));
  const all = returned("300.00", DEBITS.map((debit) => back(refs(debit.name), debit)).join(""));
  return {
    collected,
    lump: LUMP,
    divided: camtStatement(all),
    whole: withId(camtStatement(all, NOTIFICATION), "N1"),
    singles: withId(camtStatement(DEBITS.map(single).join(""), NOTIFICATION), "N1"),
    two: withId(camtStatement(DEBITS.slice(0, 2).map(single).join(""), NOTIFICATION), "N2"),
    third: withId(camtStatement(single(DEBITS[2]), NOTIFICATION), "N3"),
  };
};

type Name = keyof ReturnType<typeof filesOf>;

const ORDERS: readonly (readonly Name[])[] = [
  ["collected", "divided"],
  ["divided", "collected"],
  ["collected", "lump", "whole"],
  ["collected", "whole", "lump"],
  ["collected", "lump", "singles"],
  ["collected", "singles", "lump"],
  ["lump", "singles", "collected"],
  ["singles", "lump", "collected"],
  ["collected", "divided", "singles"],
  ["collected", "singles", "divided"],
  ["singles", "divided", "collected"],
  ["divided", "singles", "collected"],
  ["collected", "lump", "two", "third"],
  ["two", "collected", "lump", "third"],
];

const CASES = Object.keys(REFERENCES).flatMap((of) =>
  ORDERS.map((order) => ({ of, order, name: order.join(", ") })),
);

onEveryStore("returns that a bank books together", (at) => {
  const { start, pay, paid, list, settle, undo } = createMoneyCases(at);
  const bring = async (file: string) => {
    const { report } = await pay(file, camt);
    at().clock.advance(MINUTE);
    return report;
  };
  /** Each return's amount, and the amount of the payment that it takes back. */
  const returns = async () => {
    const all = await paid();
    return all
      .filter(({ amount }) => amount < 0)
      .map(({ amount, rows }) => [
        amount,
        all.find(({ id }) => id === rows[0]?.["returnedPaymentId"])?.amount,
      ])
      .toSorted(([one = 0], [other = 0]) => one - other);
  };
  const EACH = [
    [-120, 120],
    [-100, 100],
    [-80, 80],
  ];

  verifies("MN-10", "MN-12");
  it.each(CASES)(
    "counts each return once, of its own payment by $of reference ($name)",
    async ({ of, order }) => {
      await start("EUR");
      const files = filesOf(REFERENCES[of] ?? String);
      const reports = [];
      for (const name of order) reports.push(await bring(files[name]));
      expect(reports.at(-1)).toMatchObject({ doubtful: 0 });
      expect(await returns()).toEqual(EACH);
      expect(await list()).toEqual([]);
      const before = await paid();
      for (const name of order) {
        expect(await bring(files[name])).toMatchObject({ written: 0, doubtful: 0 });
      }
      expect(await paid()).toEqual(before);
      // A payment that came after its return is kept, because the return takes it back.
      if (order[0] !== "collected") return;
      for (const report of reports.toReversed()) {
        expect(await undo(report?.importId)).toMatchObject({ kept: 0 });
      }
      expect(await paid()).toEqual([]);
    },
  );

  verifies("MN-10", "MN-12");
  it("doubts returns of a batch until all are known, and leaves the batch the rest", async () => {
    await start("EUR");
    const files = filesOf(REFERENCES["the payer's"] ?? String);
    for (const file of [files.collected, files.lump, files.two]) await bring(file);
    const doubts = await list();
    expect(doubts.map(({ amount }) => amount).toSorted()).toEqual([-100, -120]);
    for (const { id } of doubts) await settle("same", id);
    expect(await list()).toEqual([]);
    expect((await returns()).map(([amount]) => amount)).toEqual([-120, -100, -80]);
    expect(await bring(files.third)).toMatchObject({ doubtful: 0 });
    expect(await returns()).toEqual(EACH);
  });

  verifies("MN-10");
  it("leaves a return of a batch alone whose payment is not known", async () => {
    await start("EUR");
    const { divided } = filesOf(REFERENCES["the bank's"] ?? String);
    const first = withId(
      camtStatement(
        camtEntry({
          amount: "120.00",
          reference: "O2",
          details: `<TxDtls><Refs><EndToEndId>E2E-2</EndToEndId></Refs></TxDtls>`,
        }),
      ),
      "S0",
    );
    for (const order of [
      [first, divided],
      [divided, first],
    ]) {
      await start("EUR");
      for (const file of order) await bring(file);
      expect(await returns()).toEqual([
        [-120, 120],
        [-100, undefined],
        [-80, undefined],
      ]);
      await bring(collected);
      expect(await returns()).toEqual(EACH);
    }
  });
});
