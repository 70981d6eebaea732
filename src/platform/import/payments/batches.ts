import Big from "big.js";
import { findPartsOf, putEntries } from "../../store/queries/payment-entries.ts";
import { findRowsOfPayments, putPaymentRows } from "../../store/queries/payments.ts";
import { TABLES } from "../../store/queries/payments/columns.ts";
import type { Db } from "../../store/port.ts";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import type { Journal } from "../target.ts";
import { findStoredAdvices, takeForAdvices } from "./advices.ts";
import { addDuplicate, clearDuplicate, reportSettled } from "./distinct.ts";
import { isAdvice, LEAST_DETAIL, parsePaymentIds } from "./entry-facts.ts";
import { doubt } from "./joining.ts";
import type { Judged } from "./judged.ts";
import {
  addUp,
  collectParts,
  COMPLETE_DETAIL,
  createBatchSearch,
  createSingleSearch,
  findPart,
  findSingle,
  isBeside,
  isMoney,
  isSmaller,
  isUndivided,
  mayBePartOf,
  preferDay,
} from "./parts.ts";
import type { SaveNeeds } from "./save.ts";
import { change, type Found, judge, listOpen, listOpenAdvices, settle, type Work } from "./work.ts";

/** Takes entries for payments of stored batches: one to one, by amount and reference. */
const takeForParts = async (work: Work): Promise<void> => {
  const singles = listOpen(work).filter(({ entry }) => entry.payments.length === 1);
  const batches = [...work.rows.values()].filter(
    (row) => isMoney(row) && row.part_count !== null && parsePaymentIds(row).length > 1,
  );
  const possible = batches.filter(
    (batch) => !work.own.has(batch.id) && singles.some(({ facts }) => mayBePartOf(facts, batch)),
  );
  if (possible.length === 0) return;
  const ids = possible.flatMap(parsePaymentIds);
  const stored = await findRowsOfPayments(work.tx, work.needs.tenantId, work.needs.source, ids);
  const parts = new Map(collectParts(stored).map((part) => [part.paymentId, part]));
  const taken = new Set(
    [...work.rows.values()].flatMap((row) =>
      row.part_of === null || isAdvice(row) ? [] : parsePaymentIds(row),
    ),
  );
  for (const one of singles) {
    for (const { id } of possible) {
      const batch = work.rows.get(id);
      if (batch === undefined || !mayBePartOf(one.facts, batch)) continue;
      const free = parsePaymentIds(batch).flatMap((paymentId) =>
        taken.has(paymentId) ? [] : (parts.get(paymentId) ?? []),
      );
      const part = findPart(one.facts, batch, free);
      if (part === undefined) continue;
      taken.add(part.paymentId);
      change(work, { ...batch, detail: COMPLETE_DETAIL });
      const isRicher = one.facts.detail > LEAST_DETAIL + part.lines;
      const verdict = { as: "part", batch, isRicher } as const;
      judge(work, { ...one, verdict, paymentIds: [part.paymentId], partOf: id });
      break;
    }
  }
};

/** Divides a stored payment among the entries that add up to it; its id stays with the first of the new ones. */
const divide = (
  work: Work,
  batch: PaymentEntryRow,
  fresh: readonly Judged[],
  stored: readonly PaymentEntryRow[],
): void => {
  const [paymentId = ""] = parsePaymentIds(batch);
  const ids = stored.flatMap(parsePaymentIds);
  for (const [place, one] of fresh.entries()) {
    const paymentIds = place === 0 ? [paymentId, ...one.paymentIds.slice(1)] : [...one.paymentIds];
    ids.push(...paymentIds);
    judge(work, { ...one, verdict: { as: "new" }, paymentIds, partOf: batch.id });
  }
  for (const row of stored) settle(work, row, batch.id);
  settle(work, batch, null);
  const settled = work.rows.get(batch.id) ?? batch;
  // Each return of a batch waits for its payment by itself, so the batch no longer waits.
  change(work, {
    ...settled,
    payment_ids: JSON.stringify(ids),
    detail: COMPLETE_DETAIL,
    waits: null,
  });
};

/** Takes entries for the payments of stored batches that the bank did not divide. */
const takeForUndivided = async (work: Work): Promise<void> => {
  const batches = [...work.rows.values()].filter(
    (row) => isUndivided(row) && !work.own.has(row.id) && !isAdvice(row),
  );
  if (batches.length === 0) return;
  const groups = new Map<string, Judged[]>();
  const findNamed = createBatchSearch(batches);
  for (const one of [...listOpen(work), ...listOpenAdvices(work)]) {
    const [batch] = preferDay(findNamed(one.facts), one.facts.day);
    if (batch !== undefined) groups.set(batch.id, [...(groups.get(batch.id) ?? []), one]);
  }
  if (groups.size === 0) return;
  const { tenantId } = work.needs;
  for (const row of await findPartsOf(work.tx, tenantId, [...groups.keys()])) {
    if (!work.rows.has(row.id)) work.rows.set(row.id, row);
  }
  const byBatch = Map.groupBy(work.rows.values(), ({ part_of: id }) => id);
  const findSingles = createSingleSearch([...work.rows.values()].filter(isFree));
  for (const [id, fresh] of groups) {
    const batch = work.rows.get(id);
    if (batch === undefined) continue;
    const stored = [...(byBatch.get(id) ?? []), ...findSingles(batch)];
    const members = [...fresh.map(({ facts }) => facts), ...stored];
    if (members.length > 1 && addUp(members).eq(batch.amount)) divide(work, batch, fresh, stored);
    else for (const one of fresh) doubtPart(work, one, batch);
  }
};

/** Whether a stored entry has a payment that is of no batch yet. */
const isFree = (row: PaymentEntryRow): boolean => isMoney(row) && row.part_of === null;

/** The entries of other files that {@link isFree}. */
const listFree = ({ rows, own }: Work): PaymentEntryRow[] =>
  [...rows.values()].filter((row) => !own.has(row.id) && isFree(row));

/** The entry that has the payment of another one: itself, or the advice that it was joined to. */
const holderOf = ({ rows }: Work, row: PaymentEntryRow): PaymentEntryRow =>
  rows.get(row.joined_to ?? row.id) ?? row;

/** The entries of other files that were joined to advices, which have their payments. */
const listJoinedToAdvices = (work: Work): PaymentEntryRow[] =>
  [...work.rows.values()].filter((row) => {
    if (row.joined_to === null || row.part_of !== null || work.own.has(row.id)) return false;
    const holder = holderOf(work, row);
    return holder !== row && isAdvice(holder) && holder.part_of === null && isMoney(holder);
  });

const doubtPart = (work: Work, one: Judged, batch: PaymentEntryRow): void => {
  if (one.verdict.as !== "new" || one.facts.kind === batch.kind) return;
  const [paymentId = batch.id] = parsePaymentIds(batch);
  const verdict = doubt(batch.id, paymentId, { of: one.facts, like: batch });
  judge(work, { ...one, verdict, partOf: batch.id });
};

/** Finds the payments of new batches that are stored as entries of their own. */
const findStoredParts = (work: Work): void => {
  const batches = listOpen(work).filter(({ entry }) => entry.payments.length > 1);
  if (batches.length === 0) return;
  const own = listFree(work).filter((row) => !isAdvice(row));
  const free = [...own, ...listJoinedToAdvices(work)].filter(
    (row) => parsePaymentIds(holderOf(work, row)).length === 1,
  );
  const byAccount = Map.groupBy(free, ({ account, currency }) => `${account} ${currency}`);
  for (const one of batches) {
    const { facts, entry } = one;
    const near = byAccount.get(`${facts.account} ${facts.currency}`) ?? [];
    const amounts = new Set(entry.payments.map(({ amount }) => new Big(amount).toFixed()));
    const singles = near.filter(
      (row) =>
        amounts.has(row.amount) &&
        row.kind !== facts.kind &&
        work.rows.get(row.id)?.part_of === null &&
        isBeside(row, facts),
    );
    const stored = new Set<number>();
    const paymentIds = [...one.paymentIds];
    for (const [place, payment] of entry.payments.entries()) {
      const single = findSingle(facts, payment, singles);
      if (single === undefined) continue;
      singles.splice(singles.indexOf(single), 1);
      const lines = payment.remittances.length;
      const holder = holderOf(work, single);
      const isRicher = LEAST_DETAIL + lines > holder.detail;
      if (!isRicher) stored.add(place);
      [paymentIds[place] = ""] = parsePaymentIds(holder);
      const detail = isRicher ? LEAST_DETAIL + lines : holder.detail;
      if (holder !== single) change(work, { ...single, part_of: facts.id });
      change(work, { ...holder, detail, part_of: facts.id });
    }
    const isChanged = paymentIds.some((id, place) => id !== one.paymentIds[place]);
    if (isChanged) judge(work, { ...one, verdict: { as: "batch", stored }, paymentIds });
  }
};

/** Returns a function that tells whether a message has an entry that was joined to a stored one. */
const createAnswers = ({ rows, judged }: Work) => {
  const answers = new Set([
    ...[...rows.values()].map(({ joined_to: root, message }) => `${root} ${message}`),
    ...[...judged.values()].flatMap(({ verdict, facts: { message } }) =>
      verdict.as === "joined" ? [`${verdict.root.id} ${message}`] : [],
    ),
  ]);
  return (row: PaymentEntryRow, message: string) => answers.has(`${row.id} ${message}`);
};

/** Finds the entries that are about payments of new batches that the bank did not divide. */
const findStoredSum = (work: Work): void => {
  const free = listFree(work);
  if (free.length === 0) return;
  const isAnswered = createAnswers(work);
  const findSingles = createSingleSearch(free);
  for (const one of listOpen(work)) {
    const { facts, entry } = one;
    if (entry.payments.length !== 1) continue;
    const named = findSingles(facts).filter(
      (row) => work.rows.get(row.id)?.part_of === null && !isAnswered(row, facts.message),
    );
    const singles = addUp(named).eq(facts.amount) ? named : preferDay(named, facts.day);
    const [first] = singles;
    if (first === undefined) continue;
    const sum = addUp(singles);
    if (singles.length > 1 && sum.eq(facts.amount)) {
      for (const row of singles) settle(work, row, facts.id);
      const paymentIds = singles.flatMap(parsePaymentIds);
      judge(work, { ...one, verdict: { as: "batch", stored: new Set([0]) }, paymentIds });
    } else if (one.verdict.as === "new" && singles.some(({ kind }) => kind !== facts.kind)) {
      const [paymentId = first.id] = parsePaymentIds(first);
      const verdict = doubt(first.id, paymentId, { of: facts, like: first });
      judge(work, { ...one, verdict });
      if (isSmaller(facts, { amount: sum.toFixed() })) continue;
      for (const row of singles) change(work, { ...row, part_of: facts.id });
    }
  }
};

const saveChanges = async (work: Work, journal: Journal): Promise<void> => {
  const { tx, rows, before, cleared } = work;
  const { tenantId, source, now } = work.needs;
  const changed = [...before].flatMap(([id, row]) => {
    const after = rows.get(id) ?? row;
    journal.changed("payment_entries", row, after);
    return [after];
  });
  await putEntries(tx, changed);
  const payments = await findRowsOfPayments(tx, tenantId, source, cleared);
  const certain = payments.map((row) => {
    const after = clearDuplicate(row, now);
    journal.changed(TABLES[source], row, after);
    return after;
  });
  const reasons = new Map(work.doubts.map(({ paymentId, reason }) => [paymentId, reason]));
  const advised = await findRowsOfPayments(tx, tenantId, source, [...reasons.keys()]);
  const doubtful = advised.map((row) => {
    const after = addDuplicate(row, reasons.get(String(row["payment_id"])) ?? "", now);
    journal.changed(TABLES[source], row, after);
    return after;
  });
  await putPaymentRows(tx, source, [...certain, ...doubtful]);
  reportSettled(
    [...before.values()].filter(
      ({ id, doubt: one }) => one === "open" && rows.get(id)?.doubt === null && work.own.has(id),
    ),
    payments,
    journal,
  );
  for (const one of work.doubts) journal.doubt(one);
};

/**
 * Connects batches with entries of their payments, in both orders. A payment is not stored again if a reference finds it
 * in the store. Entries with the reference of an undivided batch are its payments if they add up to its amount. Until
 * then they are doubtful.
 */
export const connectBatches = async (
  tx: Db,
  needs: SaveNeeds,
  { judged, candidates }: Found,
  own: ReadonlySet<string>,
  journal: Journal,
): Promise<Found> => {
  if (candidates.length === 0) return { judged, candidates };
  const work: Work = {
    tx,
    needs,
    own,
    judged: new Map(judged.map((one) => [one.facts.id, one])),
    rows: new Map(candidates.map((row) => [row.id, row])),
    before: new Map(),
    cleared: [],
    doubts: [],
  };
  await takeForParts(work);
  await takeForAdvices(work);
  findStoredParts(work);
  findStoredAdvices(work);
  await takeForUndivided(work);
  findStoredSum(work);
  await saveChanges(work, journal);
  return { judged: [...work.judged.values()], candidates: [...work.rows.values()] };
};
