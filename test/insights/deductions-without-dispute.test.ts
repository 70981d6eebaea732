import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { deductionsWithoutDispute } from "../../src/insights/deductions-without-dispute.ts";
import { explainDocument } from "../../src/insights/explained-deductions.ts";
import { dispute as makeDispute, make } from "../support/configuration.ts";
import { createDice } from "../support/dice.ts";
import { importDisputes } from "../support/importing.ts";
import { createTestContext, runInsight, type TestContext } from "../support/insights.ts";
import { load, ndjson } from "../support/payment-rows.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "deducted";

const claimed = (amounts: readonly number[]) =>
  amounts.map((amount, place) => ({
    documentNumber: "INV",
    currencyCode: "USD",
    amount,
    name: `${place}`,
  }));

const unexplainedOf = (deductions: readonly number[], disputes: readonly number[]): number[] =>
  explainDocument(claimed(deductions), claimed(disputes)).unexplained.map(({ amount }) => amount);

describe("deductions of a document", () => {
  verifies("WK-40");
  it.each<[string, number[], number[], number[]]>([
    ["no dispute", [50], [], [50]],
    ["a dispute of the amount", [50], [50], []],
    ["two need two disputes", [50, 50], [50], [50]],
    ["two have two disputes", [50, 50], [50, 50], []],
    ["another amount explains nothing", [50], [49.99], [50]],
    ["a dispute of two together", [30.1, 20.2], [50.3], []],
    ["a dispute of three together", [0.1, 0.2, 0.3, 7], [0.6], [7]],
    ["four together are too many", [1, 2, 3, 4], [10], [1, 2, 3, 4]],
    ["two disputes of one deduction", [100], [40, 60], []],
    ["three disputes of one deduction", [100], [40, 50, 10], []],
    ["an equal amount comes before a sum", [50, 20, 30], [50], [20, 30]],
    ["each dispute explains once", [50, 20, 30], [50, 50], []],
  ])("%s", (_name, deductions, disputes, expected) => {
    expect(unexplainedOf(deductions, disputes)).toEqual(expected);
  });

  it("keep their amounts, and leave none that a free dispute equals", () => {
    const amounts = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 9 });
    fc.assert(
      fc.property(amounts, amounts, (deductions, disputes) => {
        const { explained, unexplained } = explainDocument(claimed(deductions), claimed(disputes));
        const all = [...explained.map(({ deduction }) => deduction), ...unexplained];
        expect(all.map(({ name }) => name).toSorted()).toEqual(
          deductions.map((_amount, place) => `${place}`).toSorted(),
        );
        const used = new Set(explained.flatMap((one) => one.disputes.map(({ name }) => name)));
        const free = claimed(disputes).filter(({ name }) => !used.has(name));
        const amountsLeft = new Set(unexplained.map(({ amount }) => amount));
        expect(free.filter(({ amount }) => amountsLeft.has(amount))).toEqual([]);
        // Each dispute is used for sums that are right to the cent.
        for (const name of used) {
          const own = explained.filter((one) =>
            one.disputes.some((dispute) => dispute.name === name),
          );
          const claims = new Set(own.flatMap((one) => one.disputes));
          const total = [...claims].reduce((sum, { amount }) => sum + amount, 0);
          expect(own.reduce((sum, { deduction }) => sum + deduction.amount, 0)).toBe(total);
          expect(Math.max(own.length, claims.size)).toBeLessThanOrEqual(3);
        }
      }),
    );
  });
});

const row = (id: string, more: object) => ({
  id,
  paymentId: `P-${id}`,
  paymentDate: "2026-01-10",
  accountNumber: "ACC-1",
  accountName: "Acme Ltd",
  currencyCode: "USD",
  ...more,
});

const ROWS = [
  row("1", { documentNumber: "A", deductionAmount: 10.1, deductionReasonCode: "DMG" }),
  row("2", { documentNumber: "A", deductionAmount: 99, deductionReasonCode: "dmg" }),
  // A short payment, one with a discount, an instalment, and one that left nothing out.
  row("3", { documentNumber: "B", invoiceAmount: 100.3, appliedAmount: 80.1, shortPay: true }),
  row("4", {
    documentNumber: "C",
    invoiceAmount: 100,
    appliedAmount: 90,
    discountTaken: 2,
    shortPay: true,
  }),
  row("5", { documentNumber: "D", invoiceAmount: 100, appliedAmount: 50 }),
  row("6", { documentNumber: "E", invoiceAmount: 5, appliedAmount: 5, deductionAmount: 0 }),
  // The payment came back.
  row("7", { documentNumber: "F", deductionAmount: 7, appliedAmount: 20 }),
  row("8", { documentNumber: "F", appliedAmount: -20, applicationStatus: "reversed" }),
  row("9", { documentNumber: "G", deductionAmount: 12, paymentDate: "2026-02-01" }),
  row("10", { documentNumber: "H", deductionAmount: 12, accountNumber: "ACC-2" }),
  row("11", { documentNumber: "I", deductionAmount: 33, currencyCode: "EUR" }),
  row("12", { documentNumber: "J", deductionAmount: 4, matchMethod: "suggested" }),
];

const dispute = (documentNumber: string, amount: number, more: object = {}) => ({
  documentNumber,
  accountNumber: "ACC-1",
  amount,
  currencyCode: "USD",
  categoryCode: "C",
  reasonCode: "BROKEN",
  ...more,
});

const canceled = { status: 2, closedDate: "2026-01-20T00:00:00.000Z" };
const CLAIMS = [
  dispute("A", 10.1, { status: 1, closedDate: "2026-01-20T00:00:00.000Z" }),
  dispute("C", 8),
  dispute("H", 12, canceled),
  dispute("I", 33, { currencyCode: "USD" }),
];

onEveryStore("deductions_without_dispute", (at) => {
  let context: TestContext;
  beforeAll(async () => {
    const admin = await at().tenant(TENANT);
    context = await createTestContext(at(), TENANT, admin);
    await load(at(), TENANT, "cashapp", ROWS);
    const how = { format: "ndjson" as const, createConfiguration: true };
    const { rejects } = await importDisputes(at(), TENANT, ndjson(CLAIMS), how);
    if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
    // Five earlier ones with the customer's code, four of them for one reason.
    for (const code of ["DMG", "LOST"])
      await make(admin, "/reasons", {
        code,
        description: code,
        categoryCode: "C",
        visibility: "All",
      });
    for (const [number, reasonCode] of ["LOST", "BROKEN", "BROKEN", "BROKEN", "BROKEN"].entries()) {
      const reason = { reasonCode, externalReasonCode: "DMG" };
      await makeDispute(admin, { ...reason, documentNumber: `OLD-${number}`, amount: 1 });
    }
  });

  const find = (args: Record<string, unknown> = {}) =>
    runInsight(deductionsWithoutDispute, context, args);
  const listed = async (args: Record<string, unknown> = {}) =>
    (await find(args)).items.map(({ documentNumber, amount }) => [documentNumber, amount]);

  it("lists what no dispute explains, the largest first, and adds it up per currency", async () => {
    const { items, currencyTotals, rowCount } = await find();
    expect(items.map(({ documentNumber, amount }) => [documentNumber, amount])).toEqual([
      ["A", 99],
      ["I", 33],
      ["B", 20.2],
      ["G", 12],
      ["H", 12],
    ]);
    expect(rowCount).toBe(5);
    expect(currencyTotals).toEqual([
      { currencyCode: "USD", count: 4, amount: 143.2 },
      { currencyCode: "EUR", count: 1, amount: 33 },
    ]);
    expect(items[0]).toMatchObject({
      accountNumber: "ACC-1",
      accountName: "Acme Ltd",
      paymentId: "P-2",
      paymentDate: "2026-01-10",
      currencyCode: "USD",
      deductionReasonCode: "dmg",
      proposedReason: { reasonCode: "BROKEN", cases: 5, of: 6 },
    });
    expect(items[3]).not.toHaveProperty("proposedReason");
  });

  it("follows its conditions", async () => {
    expect(await listed({ from: "2026-02-01" })).toEqual([["G", 12]]);
    expect(await listed({ to: "2026-01-31", amountMin: 20.2, currencyCode: "USD" })).toEqual([
      ["A", 99],
      ["B", 20.2],
    ]);
    expect(await listed({ accountNumber: "ACC-2" })).toEqual([["H", 12]]);
    expect(await listed({ accountName: "acme", limit: 1 })).toEqual([["A", 99]]);
  });

  it.each([
    [
      "account",
      [
        ["ACC-1", "USD", 131.2],
        ["ACC-1", "EUR", 33],
        ["ACC-2", "USD", 12],
      ],
    ],
    [
      "month",
      [
        ["2026-01", "USD", 131.2],
        ["2026-01", "EUR", 33],
        ["2026-02", "USD", 12],
      ],
    ],
  ])("adds up by %s", async (groupBy, expected) => {
    const { groups } = await find({ groupBy });
    expect(
      (groups as Record<string, unknown>[]).map(({ key, currencyCode, amount }) => [
        key,
        currencyCode,
        amount,
      ]),
    ).toEqual(expected);
  });

  verifies("WK-40");
  it("finds the same of a document by days as over all of them", async () => {
    const own = { accountNumber: "ACC-T" };
    const [first, second, third] = ["2026-04-10", "2026-05-10", "2026-06-10"];
    const of = (id: string, documentNumber: string, deductionAmount: number, day = first) =>
      row(id, { ...own, documentNumber, deductionAmount, paymentDate: day });
    await load(at(), TENANT, "cashapp", [
      // The dispute of the first deduction is none of the second.
      of("t1", "T-1", 50),
      of("t2", "T-1", 50, second),
      // One dispute of deductions on two days, and two of one.
      of("t3", "T-2", 50),
      of("t4", "T-2", 100, third),
      of("t5", "T-3", 70, second),
      { ...of("t6", "T-3", 5, third), currencyCode: "EUR" },
    ]);
    const claims = [
      dispute("T-1", 50, own),
      dispute("T-2", 150, own),
      dispute("T-3", 30, own),
      dispute("T-3", 40, own),
    ];
    await importDisputes(at(), TENANT, ndjson(claims), {
      format: "ndjson",
      createConfiguration: true,
    });
    const all = await listed({ ...own });
    expect(all).toEqual([
      ["T-1", 50],
      ["T-3", 5],
    ]);
    const byDays: unknown[] = [];
    for (const day of [first, second, third]) {
      byDays.push(...(await listed({ ...own, from: day, to: day })));
    }
    expect(byDays).toEqual(all);
    expect(await listed({ ...own, from: second, to: second })).toEqual([["T-1", 50]]);
    expect(await listed({ ...own, from: third, currencyCode: "USD" })).toEqual([]);
    expect(await listed({ ...own, to: first })).toEqual([]);
  });

  verifies("WK-40");
  it("takes payments that came back out of any days, whenever they came back", async () => {
    const DAYS = 28;
    const toDayOf = (day: number): string => `2026-03-${String(day).padStart(2, "0")}`;
    const paid = fc.record({
      document: fc.constantFrom("K", "L", "M", "N"),
      applied: fc.constantFrom(20, 30),
      deducted: fc.integer({ min: 1, max: 9 }),
      isReturn: fc.boolean(),
    });
    const [drawn = []] = fc.sample(fc.array(paid, { minLength: 60, maxLength: 60 }), {
      seed: 41,
      numRuns: 1,
    });
    const keyOf = (one: (typeof drawn)[number]) => `${one.document} ${one.applied}`;
    // A payment comes back on a later day only.
    const kept = new Map<string, number>();
    const payments = drawn.map((one) => {
      const before = kept.get(keyOf(one)) ?? 0;
      const isReturn = one.isReturn && before > 0;
      kept.set(keyOf(one), before + (isReturn ? -1 : 1));
      return { ...one, isReturn };
    });
    // One payment or return a day, and some days with two.
    const rows = payments.map(({ document, applied, deducted, isReturn }, place) => ({
      ...row(`w${String(place).padStart(2, "0")}`, {
        documentNumber: document,
        paymentDate: toDayOf(1 + Math.floor((place * DAYS) / payments.length)),
        accountNumber: "ACC-W",
        ...(isReturn
          ? { appliedAmount: -applied, applicationStatus: "reversed" }
          : { appliedAmount: applied, deductionAmount: deducted }),
      }),
    }));
    await load(at(), TENANT, "cashapp", rows);
    // Of each document and amount, as many payments are gone as came back, the first ones first.
    const gone = new Map<string, number>();
    for (const one of payments.filter(({ isReturn }) => isReturn)) {
      gone.set(keyOf(one), (gone.get(keyOf(one)) ?? 0) + 1);
    }
    const standing = payments.flatMap((one, place) => {
      if (one.isReturn) return [];
      const left = gone.get(keyOf(one)) ?? 0;
      gone.set(keyOf(one), left - 1);
      return left > 0 ? [] : [{ ...one, day: rows[place]?.paymentDate ?? "" }];
    });
    expect(standing.length).toBeGreaterThan(5);
    for (const [first, last] of [
      [1, 28],
      [1, 9],
      [10, 19],
      [20, 28],
      [14, 14],
    ] as const) {
      const [from, to] = [toDayOf(first), toDayOf(last)];
      const { items } = await find({ from, to, accountNumber: "ACC-W", limit: 200 });
      expect(
        items
          .map(({ paymentDate, amount }) => `${String(paymentDate)} ${Number(amount)}`)
          .toSorted(),
      ).toEqual(
        standing
          .filter(({ day }) => day >= from && day <= to)
          .map(({ day, deducted }) => `${day} ${deducted}`)
          .toSorted(),
      );
    }
  });

  it("finds in any days what it finds in all of them, for random deductions and disputes", async () => {
    const own = { accountNumber: "ACC-R" };
    const dice = createDice(40);
    const dayOf = (day: number): string => `2026-07-${String(day).padStart(2, "0")}`;
    const documentOf = (): string => `R-${dice.whole(1, 9)}`;
    const rows = Array.from({ length: 70 }, (_, place) => {
      const isReturn = dice.chance(0.15);
      const amount = dice.pick([5, 7.5, 10, 12.5, 20]);
      return row(`r${place}`, {
        ...own,
        documentNumber: documentOf(),
        paymentDate: dayOf(dice.whole(1, 28)),
        currencyCode: dice.pick(["USD", "USD", "EUR"]),
        appliedAmount: isReturn ? -100 : 100,
        deductionAmount: isReturn ? -amount : amount,
        ...(isReturn ? { applicationStatus: "reversed" } : {}),
      });
    });
    await load(at(), TENANT, "cashapp", rows);
    const claims = Array.from({ length: 25 }, () => {
      const currencyCode = dice.pick(["USD", "EUR"]);
      return dispute(documentOf(), dice.pick([5, 10, 17.5, 20, 27.5]), { ...own, currencyCode });
    });
    await importDisputes(at(), TENANT, ndjson(claims), {
      format: "ndjson",
      createConfiguration: true,
    });
    const idsOf = async (args: object) =>
      (await find({ ...own, limit: 200, ...args })).items
        .map(({ paymentId, paymentDate }) => `${String(paymentDate)} ${String(paymentId)}`)
        .toSorted();
    const all = await idsOf({});
    expect(all.length).toBeGreaterThan(10);
    for (const [first, last] of [
      [1, 9],
      [10, 19],
      [20, 28],
      [5, 24],
      [14, 14],
    ] as const) {
      const [from, to] = [dayOf(first), dayOf(last)];
      const within = all.filter((one) => one >= from && one <= `${to}~`);
      expect([from, await idsOf({ from, to })]).toEqual([from, within]);
    }
  });

  it("says how many groups it does not show", async () => {
    const rows = Array.from({ length: 51 }, (_, place) =>
      row(`m${place}`, {
        documentNumber: `M-${place}`,
        accountNumber: `M-${place}`,
        accountName: "Many",
        deductionAmount: 1,
      }),
    );
    await load(at(), TENANT, "cashapp", rows);
    const { groups, notes } = await find({ accountName: "Many", groupBy: "account" });
    expect(groups).toHaveLength(50);
    expect(notes).toContain("The 50 largest of 51 groups are shown.");
  });
});
