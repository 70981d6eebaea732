import { hash } from "node:crypto";
import Big from "big.js";
import type { Source } from "../../../contract/payments/catalogue.ts";
import { type Clock, formatTimestamp } from "../../../kit/clock.ts";
import { findEntries, putEntries } from "../../store/queries/payment-entries.ts";
import {
  findKnown,
  findRowsBySeq,
  type KnownPayment,
  type NewPayment,
} from "../../store/queries/payments.ts";
import { readPaymentRows } from "../../store/queries/payment-matching.ts";
import type { Db } from "../../store/port.ts";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import type { Accepted, Journal, Money, Outcome, RowIdentity } from "../target.ts";
import { deriveVariantId } from "./entry-facts.ts";
import { describeDoubt } from "./joining.ts";
import { matchDocuments } from "./match.ts";
import { sumOf } from "../bank/decimal.ts";
import { createOccurrences } from "../occurrences.ts";
import { buildRowKey, deriveId, hashValues, type Values } from "./row.ts";
import { storeRows } from "./save.ts";

type Facts = {
  id: string;
  amount: string;
  /** All rows of a payment agree in these fields. */
  shared: readonly string[];
  /** A row replaces a stored one of the same key only if these agree, where both have them. */
  own: readonly string[];
  /** A reference that the source gives to one payment only: rows with the same one are the same payment. */
  reference?: string;
};

/** The fields that identify payments in tables, per source. */
export const FACTS: Readonly<Record<Source, Facts>> = {
  cashapp: {
    id: "paymentId",
    amount: "paymentAmount",
    shared: ["paymentAmount", "currencyCode", "paymentDate", "payerName"],
    own: ["paymentAmount", "currencyCode", "paymentDate", "payerName", "paymentReference"],
  },
  iandp: {
    id: "paymentId",
    amount: "amountPaid",
    shared: ["currencyCode"],
    own: ["amountPaid", "currencyCode", "paymentDate"],
    reference: "confirmationNumber",
  },
  bpn: {
    id: "networkPaymentId",
    amount: "paymentAmount",
    shared: ["paymentAmount", "currencyCode", "paymentDate", "payerName"],
    own: ["paymentAmount", "currencyCode", "paymentDate", "payerName"],
    reference: "traceNumber",
  },
};

const toText = (value: unknown): string | null =>
  value === undefined || value === null ? null : String(value);

/** Rows with an id of their own were exported by a platform, which has checked them. */
export const identifyPayment = (source: Source, values: Values): RowIdentity | undefined => {
  if (typeof values["id"] === "string") return undefined;
  const { id, shared } = FACTS[source];
  const facts = shared.map((name) => toText(values[name]));
  return { field: id, key: String(values[id]), facts, names: shared };
};

/** The amount of a row's payment. A portal pays invoices one by one, so there each row is a payment. */
export const getTableMoney = (source: Source, values: Values): Money | undefined => {
  const { id, amount } = FACTS[source];
  const { currencyCode, [amount]: paid } = values;
  if (typeof paid !== "number" || typeof currencyCode !== "string") return undefined;
  const shared = FACTS[source].shared.includes(amount) ? { paymentId: String(values[id]) } : {};
  return { ...shared, currency: currencyCode, amount: String(paid) };
};

type Needs = { tenantId: string; source: Source; clock: Clock };

/** A row with its id. A payment whose id another payment has already gets one of its own. */
type Identified = {
  id: string;
  hash: string;
  values: Values;
  before: KnownPayment | undefined;
  /** The payment that it may repeat. */
  doubtOf?: string;
  /** Whether the doubt is in the list, and how it was settled. */
  listed?: PaymentEntryRow["doubt"];
};

const deriveDoubtId = (source: Source, values: Values): string => {
  const paymentId = String(values[FACTS[source].id]);
  return hash("sha256", JSON.stringify([source, paymentId]), "hex").slice(0, 32);
};

/** Adds to doubtful rows whether their payments are in the list of doubts. */
const findListed = async (
  tx: Db,
  { tenantId, source }: Needs,
  variants: readonly (Identified | undefined)[],
): Promise<(Identified | undefined)[]> => {
  const ids = variants.flatMap((one) =>
    one === undefined ? [] : deriveDoubtId(source, one.values),
  );
  if (ids.length === 0) return [...variants];
  const entries = await findEntries(tx, tenantId, [...new Set(ids)]);
  const doubts = new Map(entries.map(({ id, doubt }) => [id, doubt]));
  return variants.map((one) => {
    const listed = one === undefined ? undefined : doubts.get(deriveDoubtId(source, one.values));
    return one === undefined || listed === undefined ? one : { ...one, listed };
  });
};

/** Whether the store has a row, or an operator has settled that it repeats another one. */
const isUnchanged = ({ hash: sentHash, before, listed }: Identified): boolean =>
  listed === "same" || before?.sent_hash === sentHash;

const findConflict = (source: Source, values: Values, known: KnownPayment): string | undefined => {
  const { own, reference } = FACTS[source];
  const stored = known.facts;
  const name = reference === undefined ? null : toText(values[reference]);
  if (reference !== undefined && name !== null && name === stored[reference]) return undefined;
  return own.find((field) => {
    const [mine, theirs] = [toText(values[field]), stored[field] ?? null];
    return mine !== null && theirs !== null && mine !== theirs;
  });
};

/** Whether a row below zero returns the payment above zero that has its number. */
const isReturnOf = (source: Source, values: Values, { facts }: KnownPayment): boolean =>
  source === "cashapp" &&
  Number(values["paymentAmount"]) < 0 &&
  Number(facts["paymentAmount"] ?? 0) > 0 &&
  facts["currencyCode"] === values["currencyCode"];

type Sent = { line: number; values: Values; key: string; count: number };

const findKnownById = async (tx: Db, { tenantId, source }: Needs, ids: readonly string[]) => {
  const fields = [...FACTS[source].own, FACTS[source].reference ?? "id"];
  const found = await findKnown(tx, tenantId, source, { ids, by: "row", fields });
  return new Map(found.map((row) => [row.id, row]));
};

/** Finds a stored row of each payment, by the payment's id: further rows must agree with it. */
const findKnownPayments = async (tx: Db, { tenantId, source }: Needs, ids: readonly string[]) => {
  if (ids.length === 0) return new Map<string | null | undefined, KnownPayment>();
  const { id, shared } = FACTS[source];
  const found = await findKnown(tx, tenantId, source, {
    ids,
    by: "payment",
    fields: [id, ...shared],
  });
  return new Map(found.toReversed().map((row) => [row.facts[id], row]));
};

/** Finds the stored row of each sent one. Where it is another payment with the same id, the sent one gets a new id. */
const identifyRows = async (tx: Db, needs: Needs, sent: readonly Sent[]): Promise<Identified[]> => {
  const { tenantId, source } = needs;
  const { id: idField, shared } = FACTS[source];
  const own = sent.map(({ values, key, count }) =>
    typeof values["id"] === "string" ? values["id"] : deriveId(tenantId, source, key, count),
  );
  const known = await findKnownById(tx, needs, own);
  const fresh = sent.filter(
    ({ values }, place) => values["id"] === undefined && !known.has(own[place] ?? ""),
  );
  const ids = [...new Set(fresh.map(({ values }) => String(values[idField])))];
  const payments = await findKnownPayments(tx, needs, ids);
  const conflicts = sent.map(({ values, count }, place): Identified | undefined => {
    const before = known.get(own[place] ?? "") ?? payments.get(String(values[idField]));
    if (before === undefined || values["id"] !== undefined) return undefined;
    if (findConflict(source, values, before) === undefined) return undefined;
    const doubtOf = String(values[idField]);
    const facts = Object.fromEntries(shared.map((name) => [name, values[name] ?? null]));
    const isBack = isReturnOf(source, values, before);
    const variant = {
      ...values,
      [idField]: deriveVariantId(doubtOf, facts),
      ...(isBack ? { returnedPaymentId: values["returnedPaymentId"] ?? doubtOf } : {}),
    };
    const id = deriveId(tenantId, source, buildRowKey(source, variant), count);
    const found = { id, hash: hashValues(variant), values: variant, before: undefined };
    return isBack ? found : { ...found, doubtOf };
  });
  const variants = await findListed(tx, needs, conflicts);
  const variantIds = variants.flatMap((one) => one?.id ?? []);
  const others = variantIds.length === 0 ? known : await findKnownById(tx, needs, variantIds);
  return sent.map(({ values }, place): Identified => {
    const id = own[place] ?? "";
    const variant = variants[place];
    if (variant === undefined)
      return { id, hash: hashValues(values), values, before: known.get(id) };
    return { ...variant, before: others.get(variant.id) };
  });
};

/** A payment of a table that changes: its rows in the file, and all that the store has of it. */
type Changed = { rows: readonly Identified[]; stored: readonly NewPayment[] };

/** Whether a row says how its payment is applied; one that came back is applied to nothing until its payment is known. */
const saysStatus = ({ values }: Identified): boolean => {
  const { applicationStatus: status, paymentAmount } = values;
  return status !== undefined && !(status === "reversed" && Number(paymentAmount) < 0);
};

const saysApplied = ({ values }: Identified): boolean => values["appliedAmount"] !== undefined;

/**
 * Payments of which a row does not say what it pays are matched as a whole, like those of banks, unless a platform has
 * exported them.
 */
const isMatchable = (source: Source, { rows, stored }: Changed): boolean =>
  source === "cashapp" &&
  rows.every((row) => row.values["id"] === undefined && !saysStatus(row)) &&
  stored.every(({ matching }) => matching !== undefined) &&
  (stored.length > 0 || !rows.every(saysApplied));

/**
 * Completes a payment whose rows all say what is applied with what is left of it, as far as the file does not say it.
 */
const addUnapplied = (rows: readonly NewPayment[], { rows: sent }: Changed): NewPayment[] => {
  const isComplete = sent.every(
    (row) => saysApplied(row) && (row.values["id"] ?? row.values["unappliedAmount"]) === undefined,
  );
  const amount = new Big(Number(rows[0]?.values["paymentAmount"] ?? 0));
  const applied = sumOf(rows.map(({ values }) => new Big(Number(values["appliedAmount"] ?? 0))));
  if (!isComplete || amount.lte(0) || applied.gt(amount)) return [...rows];
  const unappliedAmount = amount.minus(applied).toNumber();
  return rows.map((row) => ({ ...row, values: { ...row.values, unappliedAmount } }));
};

const toNewPayment = (
  { tenantId }: Needs,
  now: string,
  { id, hash: sentHash, values, before, doubtOf, listed }: Identified,
): NewPayment => {
  const isDoubtful = doubtOf !== undefined && listed !== "different";
  const doubt = isDoubtful ? { doubt: describeDoubt(doubtOf) } : {};
  const created = { createdAt: before?.created_at ?? now, updatedAt: now };
  return {
    tenantId,
    seq: before?.seq ?? 0,
    sentHash,
    values: { ...values, ...doubt, id, tenantId, ...created },
  };
};

/** Stores a doubtful payment in the list of doubts, once. */
const toDoubtEntry = (
  { tenantId, source }: Needs,
  { values, doubtOf }: Identified,
  importId: string,
): PaymentEntryRow => {
  const { id, amount } = FACTS[source];
  const paymentId = String(values[id]);
  return {
    tenant_id: tenantId,
    id: deriveDoubtId(source, values),
    import_id: importId,
    kind: `table ${source}`,
    message: "",
    account: null,
    amount: String(values[amount] ?? 0),
    currency: String(values["currencyCode"] ?? ""),
    day: String(values["paymentDate"] ?? ""),
    bank_reference: null,
    batch_reference: null,
    part_count: null,
    part_of: null,
    reference_list: "[]",
    words: "|",
    payment_ids: JSON.stringify([paymentId]),
    detail: 0,
    joined_to: null,
    doubt_of: null,
    doubt_payment_id: doubtOf ?? null,
    doubt: "open",
    waits: null,
  };
};

const saveDoubts = async (
  tx: Db,
  needs: Needs,
  rows: readonly { line: number; row: Identified }[],
  journal: Journal,
): Promise<void> => {
  const doubtful = rows.filter(
    ({ row: { doubtOf, before, listed } }) =>
      doubtOf !== undefined && before === undefined && listed === undefined,
  );
  const entries = new Map<string, PaymentEntryRow>();
  for (const { line, row } of doubtful) {
    const entry = toDoubtEntry(needs, row, journal.importId);
    if (entries.has(entry.id)) continue;
    entries.set(entry.id, entry);
    journal.doubt({
      line,
      paymentId: JSON.parse(entry.payment_ids)[0],
      currencyCode: entry.currency,
      amount: Number(entry.amount),
      reason: describeDoubt(row.doubtOf ?? ""),
    });
  }
  const created = [...entries.values()];
  await putEntries(tx, created);
  journal.created("payment_entries", created);
};

/** Returns the payments of which a row changes. The rows of a payment in a file are in one batch. */
const listChanged = async (
  tx: Db,
  { tenantId, source }: Needs,
  rows: readonly Identified[],
): Promise<Changed[]> => {
  const { id } = FACTS[source];
  const latest = [...new Map(rows.map((row) => [row.id, row])).values()];
  const changed = [...Map.groupBy(latest, ({ values }) => String(values[id]))].filter(
    ([, own]) => !own.every(isUnchanged),
  );
  const ids = changed.map(([paymentId]) => paymentId);
  const stored = source === "cashapp" ? await readPaymentRows(tx, tenantId, ids) : [];
  const byPayment = Map.groupBy(stored, ({ values }) => String(values[id]));
  return changed.map(([paymentId, own]) => ({ rows: own, stored: byPayment.get(paymentId) ?? [] }));
};

/** Returns all rows of a payment in their order: those of the file, and others that the store has. */
const joinRows = (needs: Needs, now: string, { rows, stored }: Changed): NewPayment[] => {
  const sent = new Set<unknown>(rows.map(({ id }) => id));
  const others = stored.filter(({ values }) => !sent.has(values["id"]));
  return [
    ...others.map((row) => ({ ...row, values: { ...row.values, updatedAt: now } })),
    ...rows.map((row) => toNewPayment(needs, now, row)),
  ].toSorted((a, b) => (a.seq || Infinity) - (b.seq || Infinity) || 0);
};

/** Returns the rows of a payment that is not matched: those that change, or all where what is left of it is added. */
const takeAsWritten = (needs: Needs, now: string, payment: Changed): NewPayment[] => {
  const all = needs.source === "cashapp" ? joinRows(needs, now, payment) : [];
  const completed = addUnapplied(all, payment);
  if (completed.some((row, place) => row !== all[place])) return completed;
  return payment.rows
    .filter((row) => !isUnchanged(row))
    .map((row) => toNewPayment(needs, now, row));
};

const writeRows = async (
  tx: Db,
  needs: Needs,
  sent: readonly Sent[],
  journal: Journal,
): Promise<Outcome[]> => {
  const now = formatTimestamp(needs.clock());
  const rows = await identifyRows(tx, needs, sent);
  const changed = await listChanged(tx, needs, rows);
  const isMatched = (payment: Changed) => isMatchable(needs.source, payment);
  const matched = await matchDocuments(
    tx,
    needs.tenantId,
    changed.filter(isMatched).flatMap((payment) => joinRows(needs, now, payment)),
  );
  const others = changed.filter((payment) => !isMatched(payment));
  const payments = [...others.flatMap((payment) => takeAsWritten(needs, now, payment)), ...matched];
  const seqs = payments.flatMap(({ seq }) => (seq > 0 ? [seq] : []));
  const before = await findRowsBySeq(tx, needs.tenantId, needs.source, seqs);
  await storeRows(tx, { ...needs, now }, payments, { before, journal });
  const withLines = rows.map((row, place) => ({ line: sent[place]?.line ?? 0, row }));
  await saveDoubts(tx, needs, withLines, journal);
  return rows.map((row) => (isUnchanged(row) ? "unchanged" : "written"));
};

/** Writes the payment rows of tables: each creates or replaces the stored row with its key. */
export const createTableWriter = (needs: Needs) => {
  const met = createOccurrences();
  return {
    write(tx: Db, rows: readonly Accepted<Values>[], journal: Journal): Promise<Outcome[]> {
      const sent = rows.map(({ line, values }): Sent => {
        const key = buildRowKey(needs.source, values);
        return { line, values, key, count: met.count(key) };
      });
      return writeRows(tx, needs, sent, journal);
    },
    close: met.close,
  };
};
