import { Problem } from "../../contract/errors.ts";
import type { Source } from "../../contract/payments/catalogue.ts";
import { type Clock, formatTimestamp } from "../../kit/clock.ts";
import { clearDuplicate } from "../import/payments/distinct.ts";
import { parsePaymentIds } from "../import/payments/entry-facts.ts";
import { describeDoubt } from "../import/payments/joining.ts";
import { settleRestored, settleReturn } from "../services/payments/matching/settle.ts";
import { findEntries, findOpenDoubts, putEntries } from "../store/queries/payment-entries.ts";
import { readReturnsOf } from "../store/queries/payment-matching.ts";
import {
  findRowsOfPayments,
  putPaymentRows,
  removePayments,
  type StoredPayment,
} from "../store/queries/payments.ts";
import type { Db, Store } from "../store/port.ts";
import type { PaymentEntryRow } from "../store/tables/schema.ts";
import type { RecordChange } from "./changes.ts";

type Needs = { store: Pick<Store, "transaction">; clock: Clock; record: RecordChange };

const TABLE = /^table (iandp|bpn)$/;

/** The source of an entry's payments: those of bank files and of tables of cash application are cashapp. */
const getSource = ({ kind }: PaymentEntryRow): Source =>
  (TABLE.exec(kind)?.[1] as Source | undefined) ?? "cashapp";

const show = (entry: PaymentEntryRow): object => ({
  id: entry.id,
  paymentIds: parsePaymentIds(entry),
  source: getSource(entry),
  from: entry.kind,
  amount: Number(entry.amount),
  currencyCode: entry.currency,
  paymentDate: entry.day,
  importId: entry.import_id,
  reason: describeDoubt(entry.doubt_payment_id ?? ""),
});

/** Lists the payments that may repeat another one. */
export const listDoubts = async (db: Db, tenantId: string): Promise<object[]> =>
  (await findOpenDoubts(db, tenantId)).map(show);

const findDoubt = async (tx: Db, tenantId: string, id: string): Promise<PaymentEntryRow> => {
  const [entry] = await findEntries(tx, tenantId, [id]);
  if (entry?.doubt === "open") return entry;
  throw new Problem(
    "not_found",
    `No doubtful payment of the tenant has the id ${id}. List them with: admin payments doubtful list ${tenantId}`,
  );
};

const textsOf = (rows: readonly StoredPayment[], column: string): string[] =>
  rows.flatMap((row) => (typeof row[column] === "string" ? [row[column]] : []));

/** Removes a repeated payment. Its returns become those of the payment that it repeats, and its documents are open. */
const removeRepeated = async (
  tx: Db,
  entry: PaymentEntryRow,
  rows: readonly StoredPayment[],
  now: string,
): Promise<void> => {
  const { tenant_id: tenantId, doubt_payment_id: paymentId } = entry;
  const source = getSource(entry);
  const seqs = rows.map(({ seq }) => seq);
  await removePayments(tx, source, tenantId, seqs);
  if (source !== "cashapp") return;
  const settling = { tenantId, now };
  const returns = await readReturnsOf(tx, tenantId, parsePaymentIds(entry));
  const returnIds = new Set(returns.map(({ values }) => String(values["paymentId"])));
  for (const returnPaymentId of paymentId === null ? [] : returnIds) {
    await settleReturn(tx, settling, { returnPaymentId, paymentId: String(paymentId) });
  }
  await settleRestored(tx, settling, {
    documents: textsOf(rows, "document_number"),
    paymentIds: textsOf(rows, "returned_payment_id"),
    since: textsOf(rows, "created_at").toSorted()[0] ?? now,
  });
};

/** Settles a doubt: `same` removes the repeated payment, `different` keeps it as a payment of its own. */
export const settleDoubt = (
  { store, clock, record }: Needs,
  { tenantId, id, as }: { tenantId: string; id: string; as: "same" | "different" },
): Promise<object> =>
  store.transaction(async (tx) => {
    const entry = await findDoubt(tx, tenantId, id);
    const source = getSource(entry);
    const rows = await findRowsOfPayments(tx, tenantId, source, parsePaymentIds(entry));
    const updated_at = formatTimestamp(clock());
    if (as === "same") await removeRepeated(tx, entry, rows, updated_at);
    else {
      const cleared =
        source === "cashapp" ? rows.map((row) => clearDuplicate(row, updated_at)) : rows;
      await putPaymentRows(tx, source, cleared);
    }
    const joined_to = as === "same" ? entry.doubt_of : null;
    await putEntries(tx, [{ ...entry, doubt: as, joined_to }]);
    const metadata = { settledAs: as, payments: parsePaymentIds(entry).length };
    await record(tx, { tenantId, action: "admin.payment_doubt_settled", resourceId: id, metadata });
    return { ...show(entry), settledAs: as };
  }, tenantId);
