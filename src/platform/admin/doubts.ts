import Big from "big.js";
import { Problem } from "../../contract/errors.ts";
import type { Source } from "../../contract/payments/catalogue.ts";
import { type Clock, formatTimestamp } from "../../kit/clock.ts";
import { clearDuplicate } from "../import/payments/distinct.ts";
import { parsePaymentIds } from "../import/payments/entry-facts.ts";
import { describeDoubt } from "../import/payments/joining.ts";
import { settleRestored, settleReturn } from "../services/payments/matching/settle.ts";
import {
  findEntries,
  findOpenDoubts,
  findPartsOf,
  putEntries,
} from "../store/queries/payment-entries.ts";
import { readReturnsOf } from "../store/queries/payment-matching.ts";
import {
  findRowsOfPayments,
  putPaymentRows,
  removePayments,
  type StoredPayment,
} from "../store/queries/payments.ts";
import type { Db, Store } from "../store/port.ts";
import type { PaymentEntryRow } from "../store/tables/schema.ts";
import { settlePart } from "./batch-doubts.ts";
import type { RecordChange } from "./changes.ts";

type Needs = { store: Pick<Store, "transaction">; clock: Clock; record: RecordChange };

const TABLE = /^table (iandp|bpn)$/;
const TABLE_ENTRY = /^table /;

/** The source of an entry's payments: those of bank files and of tables of cash application are cashapp. */
const getSource = ({ kind }: PaymentEntryRow): Source =>
  (TABLE.exec(kind)?.[1] as Source | undefined) ?? "cashapp";

/** Whether both are entries of bank messages with other amounts. */
const isOfOtherAmount = (entry: PaymentEntryRow, like: PaymentEntryRow): boolean =>
  !TABLE_ENTRY.test(entry.kind) && !new Big(entry.amount).eq(like.amount);

const show = (entry: PaymentEntryRow, like: PaymentEntryRow | undefined): object => {
  const amounts =
    like !== undefined && isOfOtherAmount(entry, like) ? { of: entry, like } : undefined;
  return {
    id: entry.id,
    paymentIds: parsePaymentIds(entry),
    source: getSource(entry),
    from: entry.kind,
    amount: Number(entry.amount),
    currencyCode: entry.currency,
    paymentDate: entry.day,
    importId: entry.import_id,
    reason: describeDoubt(entry.doubt_payment_id ?? "", amounts),
  };
};

const findLike = async (
  db: Db,
  tenantId: string,
  entries: readonly PaymentEntryRow[],
): Promise<ReadonlyMap<string, PaymentEntryRow>> => {
  const ids = entries.flatMap(({ doubt_of: id }) => id ?? []);
  const found = await findEntries(db, tenantId, [...new Set(ids)]);
  return new Map(found.map((row) => [row.id, row]));
};

/** Lists the payments that may repeat another one. */
export const listDoubts = async (db: Db, tenantId: string): Promise<object[]> => {
  const open = await findOpenDoubts(db, tenantId);
  const like = await findLike(db, tenantId, open);
  return open.map((entry) => show(entry, like.get(entry.doubt_of ?? "")));
};

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

type Removed = { source: Source; paymentIds: readonly string[]; heir: string | undefined };

/** Removes repeated payments. Their returns become those of the payment that stays, and their documents are open. */
const removeRepeated = async (
  tx: Db,
  { tenantId, now }: { tenantId: string; now: string },
  { source, paymentIds, heir }: Removed,
): Promise<void> => {
  const rows = await findRowsOfPayments(tx, tenantId, source, paymentIds);
  const seqs = rows.map(({ seq }) => seq);
  await removePayments(tx, source, tenantId, seqs);
  if (source !== "cashapp") return;
  const settling = { tenantId, now };
  const returns = await readReturnsOf(tx, tenantId, paymentIds);
  const returnIds = new Set(returns.map(({ values }) => String(values["paymentId"])));
  for (const returnPaymentId of heir === undefined ? [] : returnIds) {
    await settleReturn(tx, settling, { returnPaymentId, paymentId: heir ?? "" });
  }
  await settleRestored(tx, settling, {
    documents: textsOf(rows, "document_number"),
    paymentIds: textsOf(rows, "returned_payment_id"),
    since: textsOf(rows, "created_at").toSorted()[0] ?? now,
  });
};

/** Settles an entry as the same; returns the entries that change. */
const settleSame = async (
  tx: Db,
  entry: PaymentEntryRow,
  like: PaymentEntryRow | undefined,
  now: string,
): Promise<PaymentEntryRow[]> => {
  const { tenant_id: tenantId } = entry;
  const source = getSource(entry);
  const remove = ({ paymentIds, heir }: Omit<Removed, "source">): Promise<void> =>
    removeRepeated(tx, { tenantId, now }, { source, paymentIds, heir });
  if (like !== undefined && isOfOtherAmount(entry, like)) {
    return settlePart({ tx, now, remove }, entry, like);
  }
  const heir = entry.doubt_payment_id ?? undefined;
  await remove({ paymentIds: parsePaymentIds(entry), heir });
  return [{ ...entry, doubt: "same", joined_to: entry.doubt_of }];
};

/** Settles an entry as another payment; returns the entries that change. */
const settleDifferent = async (
  tx: Db,
  entry: PaymentEntryRow,
  now: string,
): Promise<PaymentEntryRow[]> => {
  const { tenant_id: tenantId } = entry;
  const source = getSource(entry);
  if (source === "cashapp") {
    const rows = await findRowsOfPayments(tx, tenantId, source, parsePaymentIds(entry));
    const cleared = rows.map((row) => clearDuplicate(row, now));
    await putPaymentRows(tx, source, cleared);
  }
  const parts = await findPartsOf(tx, tenantId, [entry.id]);
  const others = parts.map((part) => ({ ...part, part_of: null }));
  return [...others, { ...entry, doubt: "different", part_of: null }];
};

/**
 * Settles a doubt: `same` removes the repeated payment, of a batch what is a payment of its own beside it; `different`
 * keeps it as a payment of its own.
 */
export const settleDoubt = (
  { store, clock, record }: Needs,
  { tenantId, id, as }: { tenantId: string; id: string; as: "same" | "different" },
): Promise<object> =>
  store.transaction(async (tx) => {
    const entry = await findDoubt(tx, tenantId, id);
    const like = (await findLike(tx, tenantId, [entry])).get(entry.doubt_of ?? "");
    const now = formatTimestamp(clock());
    const changed =
      as === "same"
        ? await settleSame(tx, entry, like, now)
        : await settleDifferent(tx, entry, now);
    await putEntries(tx, changed);
    const metadata = { settledAs: as, payments: parsePaymentIds(entry).length };
    await record(tx, { tenantId, action: "admin.payment_doubt_settled", resourceId: id, metadata });
    return { ...show(entry, like), settledAs: as };
  }, tenantId);
