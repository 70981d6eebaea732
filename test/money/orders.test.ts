import { describe, expect, it } from "vitest";
import { createMoneyCases, documentsFile } from "../support/money-cases.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { writeBai2 } from "./bai2.ts";
import { type CamtKind, writeCamt } from "./camt.ts";
import { writeEdi820 } from "./edi820.ts";
import { writeMt940 } from "./mt940.ts";
import { type BankAccount, type Booking, type Document, sum } from "./truth.ts";

const DAY = "2026-02-20";
const AMOUNT = 25_000;
const ACCOUNT: BankAccount = {
  number: "0532013000",
  currency: "USD",
  decimals: 2,
  isAmerican: true,
  style: "end-to-end id",
};
const PAYER = { number: "C1", name: "Birch Trading Ltd", account: "DE02120300000000202058" };

const book = (trace: string, number: string): Booking => {
  const money = { currency: "USD", decimals: 2, amount: AMOUNT };
  const document: Document = { number, customer: PAYER, isShared: false, ...money };
  const shares = [{ document, paid: AMOUNT, discount: 0, deduction: 0 }];
  const transaction = { customer: PAYER, amount: AMOUNT, trace, text: "of invoices", shares };
  return { account: ACCOUNT, day: 0, reference: "", amount: AMOUNT, transactions: [transaction] };
};

const FIRST = book("TR001015", "INV-15");
const SECOND = book("TR001024", "INV-24");
const RETURN: Booking = { ...SECOND, amount: -AMOUNT, returned: SECOND };
const ALL = [FIRST, SECOND, RETURN];

const state = (id: string, bookings: readonly Booking[]) => {
  const closing = sum(bookings.map(({ amount }) => amount));
  return { id, account: ACCOUNT, day: DAY, opening: 0, closing, bookings };
};

const camt = (kind: CamtKind, id: string, bookings: readonly Booking[], hasDetails = false) =>
  writeCamt(kind, state(id, bookings), {
    hasDetails,
    hasSums: true,
    envelope: "none",
    encoding: "utf-8",
  });

/** Messages about two equal deposits of a payer and day, of which the second is returned. */
const FILES: Readonly<Record<string, string>> = {
  "820 of the first": writeEdi820([{ booking: FIRST, day: DAY }], 1),
  "820 of the second": writeEdi820([{ booking: SECOND, day: DAY }], 2),
  "camt.052 of the second": camt("camt.052", "R1", [SECOND]),
  "camt.053": camt("camt.053", "S1", ALL, true),
  "camt.054 of the first": camt("camt.054", "N1", [FIRST]),
  BAI2: writeBai2("7", [state("S1", ALL)]),
  MT940: writeMt940([state("S1", ALL)], false),
  "lockbox BAI2 of the second": writeBai2("8", [state("L1", [{ ...SECOND, type: "115" }])]),
};

const permute = (names: readonly string[]): string[][] =>
  names.length < 2
    ? [[...names]]
    : names.flatMap((name) =>
        permute(names.filter((other) => other !== name)).map((rest) => [name, ...rest]),
      );

const SETS = [
  ["820 of the first", "camt.052 of the second", "BAI2"],
  ["820 of the first", "camt.052 of the second", "camt.053"],
  ["820 of the first", "lockbox BAI2 of the second", "camt.053"],
  ["820 of the first", "camt.052 of the second", "MT940"],
];
/** Of the larger sets only the orders in which an advice meets the wrong deposit first. */
const LARGER = [
  ["820 of the first", "camt.052 of the second", "820 of the second", "BAI2"],
  ["camt.052 of the second", "820 of the first", "820 of the second", "BAI2"],
  ["820 of the first", "camt.052 of the second", "820 of the second", "camt.053"],
  ["820 of the first", "camt.052 of the second", "camt.054 of the first", "camt.053", "BAI2"],
  ["820 of the first", "camt.052 of the second", "820 of the second", "camt.053", "BAI2"],
  ["camt.052 of the second", "820 of the first", "820 of the second", "MT940", "BAI2"],
];

describe("orders of messages about equal deposits", () => {
  onEveryStore("orders", (at) => {
    const { start, bring, pay, paid } = createMoneyCases(at);
    verifies("MN-12", "MN-10", "MN-03");
    it.each(
      [...SETS.flatMap(permute), ...LARGER].map((order) => [order.join(", "), order] as const),
    )("pays the document of each deposit (%s)", async (_title, order) => {
      await start("USD", { accounts: [PAYER.name] });
      await bring("documents", documentsFile({ "INV-15": "250", "INV-24": "250" }, "USD"));
      for (const name of order) await pay(FILES[name] ?? "");
      const payments = await paid();
      expect(payments.map(({ amount }) => amount).toSorted((a, b) => a - b)).toEqual([
        -250, 250, 250,
      ]);
      const applied = (number: string): number =>
        sum(payments.map(({ documents }) => documents[number] ?? 0));
      expect([applied("INV-15"), applied("INV-24")]).toEqual([250, 0]);
      for (const name of order) {
        expect((await pay(FILES[name] ?? "")).report).toMatchObject({ written: 0, doubtful: 0 });
      }
      expect(await paid()).toEqual(payments);
    });
  });
});
