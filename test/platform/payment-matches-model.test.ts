import Big from "big.js";
import fc from "fast-check";
import { expect, it } from "vitest";
import { extentOf } from "../support/extent.ts";
import { createMatchTenants, type TestPayment } from "../support/match-tenants.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const NUMBERS = ["INV-1", "INV-2", "INV-3"] as const;

type Step =
  | { kind: "document"; number: string; amount: number }
  | { kind: "payment"; amount: number; lines: { number: string; share: number | undefined }[] }
  | { kind: "return"; of: number; part: number };

const cents = fc.integer({ min: 1, max: 100_000 }).map((count) => count / 100);

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("document" as const),
    number: fc.constantFrom(...NUMBERS),
    amount: cents,
  }),
  fc.record({
    kind: fc.constant("payment" as const),
    amount: cents,
    lines: fc.array(
      fc.record({
        number: fc.constantFrom(...NUMBERS, "NONE"),
        share: fc.option(cents, { nil: undefined }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  }),
  fc.record({
    kind: fc.constant("return" as const),
    of: fc.nat(5),
    part: fc.constantFrom(1, 1, 0.5),
  }),
);

const toPayment = (amount: number, place: number, lines: Step & { kind: "payment" }) => ({
  id: `P${place}`,
  amount,
  payerName: "Acme",
  paymentReference: `REF-${place}`,
  lines: lines.lines.map(({ number, share }) => ({
    invoiceNumber: number,
    ...(share === undefined ? {} : { appliedAmount: share }),
  })),
});

/** Returns of payments that may come before these, named by the reference or by the payment. */
const toReturn = ({ of, part }: Step & { kind: "return" }, place: number, amounts: number[]) => {
  const amount = amounts[of];
  if (amount === undefined) return undefined;
  const back = new Big(amount).times(part).round(2, Big.roundUp).toNumber();
  return {
    id: `R${place}`,
    amount: -back,
    applicationStatus: "reversed",
    paymentReference: `REF-${of}`,
  };
};

const bigOf = (value: unknown): Big => new Big(typeof value === "number" ? value : 0);
const total = (amounts: readonly Big[]): Big =>
  amounts.reduce((sum, amount) => sum.plus(amount), new Big(0));

onEveryStore("any order of documents, payments and returns", (at) => {
  const { fresh, documents, pay, rows } = createMatchTenants(at);

  verifies("MN-31", "MN-32");
  it("adds up to the payments, and never applies more than a document has", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10 }), async (steps) => {
        await fresh();
        const amounts = steps.flatMap((one) => (one.kind === "payment" ? [one.amount] : []));
        const totals = new Map<string, number>();
        const ids: string[] = [];
        const returned = new Set<number>();
        let payments = 0;
        for (const [place, one] of steps.entries()) {
          if (one.kind === "document") {
            // The amount of a document never changes, so that it limits what is applied.
            const amount = totals.get(one.number) ?? one.amount;
            totals.set(one.number, amount);
            await documents({ number: one.number, amount });
            continue;
          }
          let made: TestPayment | undefined;
          if (one.kind === "payment") made = toPayment(one.amount, payments++, one);
          else if (!returned.has(one.of)) {
            returned.add(one.of);
            made = toReturn(one, place, amounts);
          }
          if (made === undefined) continue;
          ids.push(made.id);
          await pay(made);
        }
        const fields = ["paymentId", "paymentAmount", "documentNumber", "appliedAmount"];
        const found = await rows(ids, ...fields, "unappliedAmount", "deductionAmount");
        for (const [id, own] of Map.groupBy(found, ({ paymentId }) => paymentId)) {
          const applied = total(own.map(({ appliedAmount }) => bigOf(appliedAmount)));
          const left = bigOf(own[0]?.["unappliedAmount"]);
          expect(Number(applied.plus(left)), String(id)).toBe(own[0]?.["paymentAmount"]);
          const amount = bigOf(own[0]?.["paymentAmount"]);
          expect(amount.gt(0) ? left.gte(0) : left.lte(0), String(id)).toBe(true);
        }
        for (const [number, amount] of totals) {
          const own = found.filter(({ documentNumber }) => documentNumber === number);
          const applied = total(own.map(({ appliedAmount }) => bigOf(appliedAmount)));
          const deducted = total(own.map(({ deductionAmount }) => bigOf(deductionAmount)));
          expect(applied.gte(0) && applied.lte(amount), number).toBe(true);
          expect(applied.plus(deducted).lte(amount), `${number} deducted`).toBe(true);
        }
        return true;
      }),
      { numRuns: extentOf(3, 10) },
    );
  });
});
