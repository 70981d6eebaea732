import Big from "big.js";
import {
  findEntries,
  findEntriesByAmount,
  findEntriesByReference,
  findWaitingReturns,
  putEntries,
} from "../../store/payment-entries.ts";
import { findRowsOfPayments } from "../../store/payments.ts";
import { settleReturn } from "../../services/payments/matching/settle.ts";
import type { Db } from "../../store/port.ts";
import type { PaymentEntryRow } from "../../store/tables.ts";
import type { Journal } from "../target.ts";
import {
  getPayer,
  normalizeText,
  parsePaymentIds,
  parseReferences,
  toBankReference,
} from "./entry-facts.ts";
import { shiftDay } from "./joining.ts";
import { savePayments, type SaveNeeds, type WholePayment } from "./save.ts";

/** Banks return items within this time; later ones are found by a reference of the bank alone. */
const RETURN_DAYS = 400;
const MOST_WAITING = 1000;

type Return = Pick<
  PaymentEntryRow,
  "account" | "amount" | "currency" | "day" | "words" | "reference_list"
>;

const isCandidate = (back: Return, entry: PaymentEntryRow): boolean =>
  entry.currency === back.currency &&
  new Big(entry.amount).gte(new Big(back.amount).abs()) &&
  (entry.account === null || back.account === null || entry.account === back.account);

const sharesReference = (back: Return, entry: PaymentEntryRow): boolean => {
  const theirs = new Set(parseReferences(entry));
  return parseReferences(back).some((text) => theirs.has(text));
};

/** Finds the entry that a return takes back: by a reference, else the only one of its payer with its amount. */
const chooseReturned = (
  back: Return,
  candidates: readonly PaymentEntryRow[],
): PaymentEntryRow | undefined => {
  const possible = candidates.filter((entry) => isCandidate(back, entry));
  const named = possible.filter((entry) => sharesReference(back, entry));
  if (named.length > 0) return named[0];
  const payer = getPayer(back);
  const alike = possible.filter(
    (entry) =>
      payer !== "" &&
      getPayer(entry) === payer &&
      new Big(entry.amount).eq(new Big(back.amount).abs()),
  );
  return alike.length === 1 ? alike[0] : undefined;
};

const findReturned = async (
  tx: Db,
  tenantId: string,
  back: Return,
): Promise<PaymentEntryRow | undefined> => {
  const named = parseReferences(back);
  const references = named.flatMap((text) => toBankReference(back.account, text) ?? []);
  const byReference = await findEntriesByReference(tx, tenantId, references);
  const byAmount = await findEntriesByAmount(tx, tenantId, {
    currency: back.currency,
    amounts: [new Big(back.amount).abs().toFixed()],
    from: shiftDay(back.day, -RETURN_DAYS),
    to: shiftDay(back.day, RETURN_DAYS),
  });
  return chooseReturned(back, [...byReference, ...byAmount]);
};

/** Returns the payment of an entry that a return names, else its first one. */
const choosePaymentId = async (
  tx: Db,
  { tenantId, source }: SaveNeeds,
  back: Return,
  entry: PaymentEntryRow,
): Promise<string | undefined> => {
  const root =
    entry.joined_to === null ? undefined : await findEntries(tx, tenantId, [entry.joined_to]);
  const ids = parsePaymentIds(root?.[0] ?? entry);
  if (ids.length < 2) return ids[0];
  const references = new Set(parseReferences(back));
  const rows = await findRowsOfPayments(tx, tenantId, source, ids);
  const named = rows.find(({ payment_reference: text }) =>
    references.has(normalizeText(String(text ?? ""))),
  );
  return named === undefined ? ids[0] : String(named["payment_id"]);
};

const setLinked = (before: PaymentEntryRow, journal: Journal): PaymentEntryRow => {
  const after = { ...before, waits: null };
  journal.changed("payment_entries", before, after);
  return after;
};

/** Saves the returns of a journal, after its payments. A return whose payment is not known yet waits for it. */
export const saveReturns = async (
  tx: Db,
  needs: SaveNeeds,
  returns: readonly { row: PaymentEntryRow; whole: readonly WholePayment[] }[],
  journal: Journal,
): Promise<Set<string>> => {
  const saved: WholePayment[] = [];
  const linked: PaymentEntryRow[] = [];
  for (const { row, whole } of returns) {
    const returned = await findReturned(tx, needs.tenantId, row);
    const paymentId =
      returned === undefined ? undefined : await choosePaymentId(tx, needs, row, returned);
    if (paymentId === undefined) saved.push(...whole);
    else {
      if (row.waits === 1) linked.push(setLinked(row, journal));
      saved.push(...whole.map((one) => ({ ...one, returnedPaymentId: paymentId })));
    }
  }
  await putEntries(tx, linked);
  return savePayments(tx, needs, saved, journal);
};

/** Links returns that came before their payments to those of new entries. */
export const linkWaitingReturns = async (
  tx: Db,
  needs: SaveNeeds,
  fresh: readonly PaymentEntryRow[],
  journal: Journal,
): Promise<void> => {
  const { tenantId, now } = needs;
  if (fresh.length === 0) return;
  for (const back of await findWaitingReturns(tx, tenantId, MOST_WAITING)) {
    const returned = chooseReturned(back, fresh);
    const paymentId =
      returned === undefined ? undefined : await choosePaymentId(tx, needs, back, returned);
    if (paymentId === undefined) continue;
    for (const returnPaymentId of parsePaymentIds(back)) {
      await settleReturn(tx, { tenantId, now }, { returnPaymentId, paymentId });
    }
    await putEntries(tx, [setLinked(back, journal)]);
  }
};
