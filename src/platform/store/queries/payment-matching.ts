import { type RawBuilder, sql } from "kysely";
import { getDialect } from "../engine/dialect.ts";
import { fold } from "../engine/fold.ts";
import type { NewPayment } from "./payments.ts";
import type { Db } from "../port.ts";
import type { PaymentRow } from "../tables/schema.ts";
import { readStoredValues } from "./payments/columns.ts";
import { PAYER_KEY } from "./payments/payer-key.ts";

/** The `waiting_key` of a return whose payment has not come. No key of a document contains a space. */
export const WAITING_RETURN = "return of a payment";

type StoredRow = PaymentRow & {
  said: string | null;
  applied_at: string | null;
  waiting_key: string | null;
};

const toPayment = (row: StoredRow): NewPayment => ({
  tenantId: row.tenant_id,
  seq: row.seq,
  sentHash: row.sent_hash,
  ...(row.said === null
    ? {}
    : { matching: { said: row.said, appliedAt: row.applied_at, waitingKey: row.waiting_key } }),
  values: readStoredValues("cashapp", row),
});

const readRows = async (db: Db, tenantId: string, where: RawBuilder<unknown>) => {
  const { rows } = await sql<StoredRow>`select * from cashapp_payments
    where tenant_id = ${tenantId} and ${where} order by seq`.execute(db);
  return rows.map(toPayment);
};

const readIfAny = async (
  db: Db,
  tenantId: string,
  column: string,
  values: readonly string[],
  where = sql`1 = 1`,
): Promise<NewPayment[]> =>
  values.length === 0
    ? []
    : readRows(
        db,
        tenantId,
        sql`${sql.ref(column)} is not null
          and ${getDialect(db).isAmongKeys(column, values.map(fold))} and ${where}`,
      );

/** Reads all rows of payments, in the order of their numbers. */
export const readPaymentRows = async (
  db: Db,
  tenantId: string,
  paymentIds: readonly string[],
): Promise<NewPayment[]> => {
  const ids = new Set<unknown>(paymentIds);
  const rows = await readIfAny(db, tenantId, "payment_id_folded", paymentIds);
  return rows.filter(({ values }) => ids.has(values["paymentId"]));
};

/** Reads the rows of the returns of payments. */
export const readReturnsOf = async (
  db: Db,
  tenantId: string,
  paymentIds: readonly string[],
): Promise<NewPayment[]> => {
  const ids = new Set<unknown>(paymentIds);
  const rows = await readIfAny(db, tenantId, "returned_payment_id_folded", paymentIds);
  return rows.filter(({ values }) => ids.has(values["returnedPaymentId"]));
};

/** Reads the rows of payments that have one of the references. */
export const readReferencedPayments = (
  db: Db,
  tenantId: string,
  references: readonly string[],
): Promise<NewPayment[]> => readIfAny(db, tenantId, "payment_reference_folded", references);

/** Reads the rows of payments of these amounts that have one of the payers or name one of the documents. */
export const readAlikePayments = async (
  db: Db,
  tenantId: string,
  {
    payers,
    documents,
    amounts,
  }: Record<"payers" | "documents", readonly string[]> & {
    amounts: readonly number[];
  },
): Promise<NewPayment[]> => {
  if (amounts.length === 0) return [];
  const ofAmount = sql`payment_amount_order in (${sql.join(amounts)})`;
  const byPayer = await readIfAny(db, tenantId, "payer_name_folded", payers, ofAmount);
  return [
    ...byPayer,
    ...(await readIfAny(db, tenantId, "document_number_folded", documents, ofAmount)),
  ];
};

/** Reads rows that wait for one of the keys, those after a number first. */
export const readWaiting = (
  db: Db,
  tenantId: string,
  keys: readonly string[],
  { after = 0, most }: { after?: number; most: number },
): Promise<NewPayment[]> => {
  const isWaiting = sql`waiting_key is not null
    and ${getDialect(db).isAmongKeys("waiting_key", keys)} and seq > ${after}`;
  return keys.length === 0
    ? Promise.resolve([])
    : readRows(
        db,
        tenantId,
        sql`seq in (select seq from cashapp_payments where tenant_id = ${tenantId} and ${isWaiting}
          order by seq limit ${most})`,
      );
};

/** Tells whether a row waits for one of the keys. */
export const hasWaiting = async (
  db: Db,
  tenantId: string,
  keys: readonly string[],
): Promise<boolean> => {
  const { rows } = await sql`select 1 from cashapp_payments where tenant_id = ${tenantId}
    and waiting_key is not null and ${getDialect(db).isAmongKeys("waiting_key", keys)} limit 1`.execute(
    db,
  );
  return rows.length > 0;
};

/** Lists keys that rows wait for, in order, those after a key. */
export const listWaitingKeys = async (
  db: Db,
  tenantId: string,
  { after, most }: { after: string; most: number },
): Promise<string[]> => {
  const { rows } = await sql<{ waiting_key: string }>`
    select distinct waiting_key from cashapp_payments
    where tenant_id = ${tenantId} and waiting_key is not null and waiting_key > ${after}
    order by waiting_key limit ${most}`.execute(db);
  return rows.map(({ waiting_key }) => waiting_key);
};

/** Finds payments with money that no document took, in the order of their rows after a number. */
export const findUnapplied = async (
  db: Db,
  tenantId: string,
  { after, most }: { after: number; most: number },
): Promise<{ seq: number; payment_id: string }[]> => {
  const { rows } = await sql<{ seq: number | string; payment_id: string }>`
    select seq, payment_id from cashapp_payments
    where tenant_id = ${tenantId} and seq > ${after} and unapplied_amount_order > 0
      and payment_id is not null
    order by seq limit ${most}`.execute(db);
  return rows.map(({ seq, payment_id }) => ({ seq: Number(seq), payment_id }));
};

/** Sums of what rows applied to a document; `isSince` are those after its balance was stated. */
export type Applied = {
  number: string;
  currency: string | null;
  isSince: boolean;
  applied: string | null;
  discount: string | null;
  deduction: string | null;
};

/** Adds up what is applied to documents, exactly, without the rows of some payments. */
export const sumApplied = async (
  db: Db,
  tenantId: string,
  numbers: readonly string[],
  exceptPaymentIds: readonly string[],
): Promise<Applied[]> => {
  if (numbers.length === 0) return [];
  const { isAmongKeys, sums } = getDialect(db);
  const total = (column: string) =>
    sums.text(sums.split(sql.ref(column)).map((part) => sql`sum(${part})`));
  const { rows } = await sql<Record<keyof Applied, string | number | null>>`
    select d.document_number as "number", p.currency_code as "currency",
      case when coalesce(p.applied_at, p.created_at) > coalesce(d.balance_at, '') then 1 else 0 end
        as "isSince",
      ${total("p.applied_amount_order")} as "applied",
      ${total("p.discount_taken_order")} as "discount",
      ${total("p.deduction_amount_order")} as "deduction"
    from cashapp_payments as p join documents as d
      on d.tenant_id = p.tenant_id and d.document_number = p.document_number
    where p.tenant_id = ${tenantId} and ${isAmongKeys("p.document_number_folded", numbers.map(fold))}
      and coalesce(p.match_method, '') <> 'suggested'
      and not (coalesce(p.application_status, '') = 'reversed' and p.applied_amount_order > 0)
      and not (${
        exceptPaymentIds.length === 0
          ? sql`1 = 0`
          : sql`p.payment_id is not null and ${isAmongKeys("p.payment_id", exceptPaymentIds)}`
      })
    group by 1, 2, 3`.execute(db);
  const parse = (text: string | number | null): string | null =>
    typeof text === "string" ? sums.parse(text) : null;
  return rows.map(({ number, currency, isSince, applied, discount, deduction }) => ({
    number: String(number),
    currency: currency === null ? null : String(currency),
    isSince: Number(isSince) === 1,
    applied: parse(applied),
    discount: parse(discount),
    deduction: parse(deduction),
  }));
};

const readRowsOfDocuments = (
  db: Db,
  tenantId: string,
  numbers: readonly string[],
  where: RawBuilder<unknown>,
): Promise<NewPayment[]> =>
  numbers.length === 0
    ? Promise.resolve([])
    : readRows(
        db,
        tenantId,
        sql`${getDialect(db).isAmongKeys("document_number_folded", numbers.map(fold))} and ${where}`,
      );

/** Reads the rows that say a deduction from one of the documents. */
export const readDeductions = (
  db: Db,
  tenantId: string,
  numbers: readonly string[],
): Promise<NewPayment[]> =>
  readRowsOfDocuments(db, tenantId, numbers, sql`deduction_amount_order > 0 and said is not null`);

/** Reads the rows that are applied to one of the documents, or say a deduction from it. */
export const readAppliedRows = (
  db: Db,
  tenantId: string,
  numbers: readonly string[],
): Promise<NewPayment[]> =>
  readRowsOfDocuments(
    db,
    tenantId,
    numbers,
    sql`(applied_amount_order > 0 or deduction_amount_order > 0) and said is not null`,
  );

/** Reads the rows that the service applied to one of the documents at a time or later. */
export const readMatchedSince = (
  db: Db,
  tenantId: string,
  numbers: readonly string[],
  since: string,
): Promise<NewPayment[]> =>
  readRowsOfDocuments(db, tenantId, numbers, sql`match_method = 'auto' and applied_at >= ${since}`);

/** Removes the rows that a return has beside those of its file. */
export const removeFurtherRows = async (
  tx: Db,
  tenantId: string,
  paymentId: string,
): Promise<void> => {
  await sql`delete from cashapp_payments
    where tenant_id = ${tenantId} and payment_id = ${paymentId} and sent_hash = ''`.execute(tx);
};

/** Accounts to which earlier payments of a payer were applied: the first and the last by their numbers. */
export type PayerAccounts = { payer: string; first: string; last: string };

/** Finds the accounts that payers paid before; see `toPayerKey`. */
export const findPayerAccounts = async (
  db: Db,
  tenantId: string,
  payers: readonly string[],
): Promise<PayerAccounts[]> => {
  if (payers.length === 0) return [];
  const find = (extreme: "min" | "max") =>
    sql`(select ${sql.raw(extreme)}(account_number) from cashapp_payments
      where tenant_id = ${tenantId} and ${PAYER_KEY} = sought.value and account_number is not null)`;
  const { rows } = await sql<{ payer: string; first: string | null; last: string | null }>`
    select sought.value as payer, ${find("min")} as first, ${find("max")} as last
    from (${getDialect(db).unnest(payers)}) as sought`.execute(db);
  return rows.flatMap(({ payer, first, last }) =>
    first === null || last === null ? [] : [{ payer, first, last }],
  );
};
