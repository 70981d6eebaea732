import {
  findRowsOfPayments,
  putPaymentRows,
  type StoredPayment,
} from "../../store/queries/payments.ts";
import { TABLES } from "../../store/queries/payments/columns.ts";
import type { Db } from "../../store/port.ts";
import type { Journal } from "../target.ts";
import type { Judged } from "./judged.ts";
import { isAdvice, parsePaymentIds } from "./entry-facts.ts";
import type { SaveNeeds, WholePayment } from "./save.ts";

/** Returns the facts of a deposit that a remittance advice about its payment does not have. */
const readDepositFacts = ({ entry, payments }: Judged): Record<string, unknown> => {
  const last4 = payments[0]?.rows[0]?.["bankAccountLast4"];
  return { depositDate: entry.day, ...(last4 === undefined ? {} : { bankAccountLast4: last4 }) };
};

/** Adds the day of the deposit to an advice that replaces the payment of a bank message. */
export const addDepositDay = (
  { verdict, facts }: Judged,
  whole: WholePayment[],
): WholePayment[] => {
  if (!isAdvice(facts) || (verdict.as !== "joined" && verdict.as !== "part")) return whole;
  const { kind, day: depositDate } = verdict.as === "joined" ? verdict.root : verdict.batch;
  if (isAdvice({ kind })) return whole;
  return whole.map((one) => ({ ...one, rows: one.rows.map((row) => ({ ...row, depositDate })) }));
};

const COLUMNS = { depositDate: "deposit_date", bankAccountLast4: "bank_account_last4" } as const;

const complete = (
  row: StoredPayment,
  facts: Record<string, unknown>,
  now: string,
): StoredPayment => {
  const missing = Object.entries(COLUMNS).flatMap(([field, column]) =>
    row[column] === null && facts[field] !== undefined ? [[column, facts[field]] as const] : [],
  );
  if (missing.length === 0) return row;
  const after = { ...row, ...Object.fromEntries(missing), updated_at: now };
  return after;
};

/** Adds what a deposit tells to the payments of the advice that it was joined to. */
export const completeAdvices = async (
  tx: Db,
  { tenantId, source, now }: SaveNeeds,
  judged: readonly Judged[],
  journal: Journal,
): Promise<void> => {
  const facts = new Map<string, Record<string, unknown>>();
  for (const one of judged) {
    const { known, verdict } = one;
    if (known !== undefined) continue;
    const isOfAdvice = verdict.as === "joined" && isAdvice(verdict.root);
    const advised = verdict.as === "batch" ? (verdict.advised ?? []) : [];
    const ids = isOfAdvice ? parsePaymentIds(verdict.root) : advised;
    for (const id of ids) facts.set(id, readDepositFacts(one));
  }
  const rows = await findRowsOfPayments(tx, tenantId, source, [...facts.keys()]);
  const changed = rows.flatMap((before) => {
    const after = complete(before, facts.get(String(before["payment_id"])) ?? {}, now);
    if (after === before) return [];
    journal.changed(TABLES[source], before, after);
    return [after];
  });
  await putPaymentRows(tx, source, changed);
};
