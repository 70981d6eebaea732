import Big from "big.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAY } from "../../src/kit/clock.ts";
import { createTally, type Invoice } from "../../src/platform/services/company-scores/tally.ts";
import { verifies } from "../support/verifies.ts";

const NOW = Date.UTC(2026, 10, 21, 15);
const day = (ago: number): number => NOW - ago * DAY;

const paid = (late: number, more: Partial<Invoice> = {}): Invoice => ({
  currency: "USD",
  amount: 100,
  invoicedAt: day(200),
  dueAt: day(170),
  closedAt: day(170 - late),
  writtenOff: false,
  ...more,
});

const open = (dueAgo: number, more: Partial<Invoice> = {}): Invoice =>
  paid(0, { dueAt: day(dueAgo), closedAt: null, ...more });

const scoreOf = (invoices: readonly Invoice[], preferred: string | null = null) => {
  const tally = createTally(NOW);
  for (const invoice of invoices) tally.add(invoice);
  return tally.score(preferred);
};

const anInvoice: fc.Arbitrary<Invoice> = fc
  .record({
    cents: fc.integer({ min: -1000, max: 10 ** 13 }),
    currency: fc.constantFrom("USD", "EUR", "JPY", "KWD"),
    invoiced: fc.integer({ min: -10, max: 500 }),
    terms: fc.integer({ min: 0, max: 120 }),
    paidAfter: fc.option(fc.integer({ min: 0, max: 300 })),
    writtenOff: fc.boolean(),
  })
  .map(({ cents, currency, invoiced, terms, paidAfter, writtenOff }) => ({
    currency,
    amount: cents / 100,
    invoicedAt: day(invoiced),
    dueAt: day(invoiced - terms),
    closedAt: paidAfter === null ? null : Math.min(NOW, day(invoiced - paidAfter)),
    writtenOff: paidAfter !== null && writtenOff,
  }));
const invoices = fc.array(anInvoice, { maxLength: 60 });

verifies("D-CRED-4");
describe("the calculated score", () => {
  it("is absent for a company without due invoices", () => {
    expect(scoreOf([])).toBeUndefined();
    expect(scoreOf([open(-5)])).toBeUndefined();
    expect(scoreOf([paid(0, { amount: -5 }), paid(0, { amount: 0 })])).toBeUndefined();
    expect(scoreOf([paid(0, { invoicedAt: day(365) })])).toBeUndefined();
    expect(scoreOf([paid(0, { invoicedAt: day(-1) })])).toBeUndefined();
    expect(scoreOf([paid(0, { invoicedAt: day(364) })])).toBeDefined();
  });

  it("weights the days late by amount, and derives the credit limit from billed amount and outlook", () => {
    // 9 days late on average over the money: 100 - 9 * 100 / 90.
    const score = scoreOf([paid(0, { amount: 700 }), paid(30, { amount: 300.05 }), open(-5)]);
    expect(score).toEqual({
      fibs: { fibs_score: 90, fibs_confidence: 10 },
      dibs: { dibs_score: 100, dibs_confidence: 10 },
      // A tenth of 1100.05, times 0.9, rounded down.
      creditLimit: 99,
      bankruptcyFlag: 0,
      outOfBusinessFlag: 0,
    });
  });

  it("counts an open invoice as late as of today, and early payment as on time", () => {
    expect(scoreOf([open(45)])?.fibs.fibs_score).toBe(50);
    expect(scoreOf([paid(-20)])?.fibs.fibs_score).toBe(100);
    expect(scoreOf([paid(400)])?.fibs.fibs_score).toBe(0);
  });

  it("reduces the viability by amounts written off or paid far too late", () => {
    const score = scoreOf([
      paid(0, { amount: 500 }),
      paid(1, { amount: 250, writtenOff: true }),
      paid(91, { amount: 250 }),
    ]);
    expect(score?.dibs.dibs_score).toBe(50);
    expect(scoreOf([paid(90)])?.dibs.dibs_score).toBe(100);
  });

  it("uses one currency: the preferred one, else that of most invoices", () => {
    const mixed = [paid(0, { currency: "JPY", amount: 12_345 }), paid(90), paid(90)];
    expect(scoreOf(mixed, "JPY")?.creditLimit).toBe(1234);
    expect(scoreOf(mixed, "EUR")?.fibs.fibs_score).toBe(0);
    expect(scoreOf(mixed, null)?.fibs).toEqual({ fibs_score: 0, fibs_confidence: 10 });
    expect(scoreOf([paid(0), ...mixed.slice(0, 1)], null)?.creditLimit).toBe(1234);
  });

  it("stays within its bounds for any invoices", () => {
    fc.assert(
      fc.property(invoices, (list) => {
        const score = scoreOf(list);
        if (score === undefined) return;
        const { fibs, dibs, creditLimit } = score;
        for (const index of [...Object.values(fibs), ...Object.values(dibs)]) {
          expect(Number.isInteger(index) && index >= 0 && index <= 100).toBe(true);
        }
        const billed = list
          .filter(({ amount }) => amount > 0)
          .reduce((sum, { amount }) => sum.plus(amount), new Big(0));
        expect(creditLimit).toBeGreaterThanOrEqual(0);
        expect(new Big(creditLimit).lte(billed.div(10))).toBe(true);
      }),
    );
  });

  it("does not depend on the order of invoices", () => {
    fc.assert(
      fc.property(invoices, fc.constantFrom("USD", null), (list, preferred) => {
        expect(scoreOf(list.toReversed(), preferred)).toEqual(scoreOf(list, preferred));
      }),
    );
  });

  it("never improves if an invoice is paid a day later", () => {
    fc.assert(
      fc.property(invoices, fc.integer({ min: 0, max: 120 }), (list, late) => {
        const usd = list.map((invoice) => ({ ...invoice, currency: "USD" }));
        const sooner = scoreOf([...usd, paid(late)]);
        const later = scoreOf([...usd, paid(late + 1)]);
        expect(later?.fibs.fibs_score).toBeLessThanOrEqual(sooner?.fibs.fibs_score ?? 0);
        expect(later?.dibs.dibs_score).toBeLessThanOrEqual(sooner?.dibs.dibs_score ?? 0);
        expect(later?.creditLimit).toBeLessThanOrEqual(sooner?.creditLimit ?? 0);
      }),
    );
  });

  it("is exact: an amount in ten parts scores like a single one", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 ** 12 }), fc.nat(120), (cents, late) => {
        const whole = scoreOf([paid(late, { amount: cents / 10 })]);
        const pieces = Array.from({ length: 10 }, () => paid(late, { amount: cents / 100 }));
        const score = scoreOf(pieces);
        expect(score?.creditLimit).toBe(whole?.creditLimit);
        expect(score?.fibs.fibs_score).toBe(whole?.fibs.fibs_score);
      }),
    );
  });
});
