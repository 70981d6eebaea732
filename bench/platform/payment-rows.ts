import { addPayments, takeSeqs } from "../../src/platform/store/queries/payments.ts";
import type { Store } from "../../src/platform/store/port.ts";

const AT_ONCE = 5000;
const METHODS = ["check", "ach", "wire", "card"];
const AT = "2026-11-20T00:00:00.000Z";

const day = (number: number): string =>
  new Date(Date.UTC(2026, 0, 1 + (number % 300))).toISOString().slice(0, 10);

/** The fields of a row that differ from those of all others. */
export type ChangeRow = (number: number) => Record<string, unknown>;

/** A row of cash application with its core fields. */
const valuesOf = (tenantId: string, number: number): Record<string, unknown> => ({
  id: `row-${number}`,
  tenantId,
  paymentId: `payment-${number}`,
  paymentDate: day(number),
  depositDate: day(number + 1),
  paymentMethod: METHODS[number % METHODS.length],
  paymentReference: `reference-${number}`,
  payerName: `Customer ${number % 977} Ltd`,
  accountNumber: `account-${number % 977}`,
  accountName: `Customer ${number % 977} Ltd`,
  documentNumber: `document-${number}`,
  invoiceNumber: `invoice-${number}`,
  currencyCode: "USD",
  paymentAmount: (number % 90_000) / 100,
  appliedAmount: (number % 80_000) / 100,
  unappliedAmount: 0,
  shortPay: number % 9 === 0,
  applicationStatus: "matched",
  createdAt: AT,
  updatedAt: AT,
});

/** Gives a tenant so many payment rows, each with the changes of its number. */
export const fillPayments = async (
  store: Store,
  tenantId: string,
  count: number,
  change: ChangeRow = () => ({}),
): Promise<void> => {
  for (let from = 0; from < count; from += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - from);
    await store.transaction(async (tx) => {
      const first = await takeSeqs(tx, tenantId, "cashapp", size);
      const rows = Array.from({ length: size }, (_, index) => ({
        tenantId,
        seq: first + index,
        sentHash: "",
        values: { ...valuesOf(tenantId, first + index), ...change(first + index) },
      }));
      await addPayments(tx, "cashapp", rows);
    }, tenantId);
  }
};
