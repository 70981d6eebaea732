import { edi820 } from "../support/bank-files.ts";
import type { Inspector } from "./inspector.ts";
import type { TenantId } from "./settings.ts";

/** A document, and what an advice of a bank pays of it, in cents. */
export type Due = { number: string; total: number; paid: number };

/** An advice of one payment for documents, which are imported before it, after it or in part. */
export type Money = { tenantId: TenantId; place: number; trace: string; dues: readonly Due[] };

const FIRST_TOTAL = 10_000;
const SHORT = 500;

/** Every second document is paid short. No two advices of a tenant have the same sum, by which they could be joined. */
export const createMoney = (
  tenantId: TenantId,
  place: number,
  numbers: readonly string[],
): Money => ({
  tenantId,
  place,
  trace: `TRACE-${tenantId}-${place}`,
  dues: numbers.map((number, index) => {
    const total = FIRST_TOTAL + 100 * place + index;
    return { number, total, paid: index % 2 === 0 ? total : total - SHORT };
  }),
});

const toDecimal = (cents: number): string => (cents / 100).toFixed(2);

const sumOf = (dues: readonly Due[]): number => dues.reduce((sum, { paid }) => sum + paid, 0);

export const toDocument = ({ tenantId, dues }: Money, key: string): object => {
  const amount = (dues.find(({ number }) => number === key)?.total ?? 0) / 100;
  return {
    document_number: key,
    account_number: `${tenantId}-1`,
    invoice_date: "2026-01-05",
    due_date: "2026-02-05",
    currency: "USD",
    original_denomination: amount,
    denomination: amount,
  };
};

export const toAdvice = ({ trace, dues, place }: Money): string =>
  edi820(dues.map(({ number, paid }) => `RMR*IV*${number}**${toDecimal(paid)}`))
    .replace("TRACE-77", trace)
    .replace("1500.75", toDecimal(sumOf(dues)))
    .replaceAll("000000042", String(place + 1).padStart(9, "0"));

type PaidRow = { document_number: string | null; applied: number; unapplied: number };

/**
 * Checks the money of an advice, however often it was imported and cut: each document that is there has what the advice
 * pays of it, once; the rest of the payment is not applied; an advice that came to its end is there, and so is each row
 * that audit entries tell of.
 */
export const checkMoney = (
  inspector: Inspector,
  money: Money,
  { isComplete, told }: { isComplete: boolean; told: number },
): void => {
  const { tenantId, trace, dues } = money;
  const rows = inspector.all<PaidRow>(
    `select document_number, round(100 * coalesce(applied_amount, 0)) as applied,
       round(100 * coalesce(unapplied_amount, 0)) as unapplied
     from cashapp_payments where tenant_id = ? and payment_reference = ?`,
    tenantId,
    trace,
  );
  if (rows.length !== told) {
    throw new Error(`${trace} has ${rows.length} rows, its audit entries say ${told}`);
  }
  if (rows.length === 0 && !isComplete) return;
  if (rows.length !== dues.length) throw new Error(`${trace} has ${rows.length} rows`);
  const there = new Set(
    inspector
      .all<{ number: string }>(
        "select document_number as number from documents where tenant_id = ? and currency = 'USD'",
        tenantId,
      )
      .map(({ number }) => number),
  );
  let rest = sumOf(dues);
  for (const { number, paid } of dues) {
    const wanted = there.has(number) ? paid : 0;
    const applied = rows
      .filter((row) => row.document_number === number)
      .reduce((sum, row) => sum + row.applied, 0);
    if (applied !== wanted)
      throw new Error(`${number} has ${applied} cents applied, not ${wanted}`);
    rest -= applied;
  }
  const wrong = rows.find(({ unapplied }) => unapplied !== rest);
  if (wrong !== undefined)
    throw new Error(`${trace} has ${wrong.unapplied} cents left, not ${rest}`);
};
