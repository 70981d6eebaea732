import { findRowsOfPayments } from "../../store/queries/payments.ts";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import { type EntryFacts, isAdvice, parsePaymentIds } from "./entry-facts.ts";
import {
  compareAdvice,
  describeDoubt,
  doubt,
  isPayerNamed,
  isReturn,
  namesReferenceOf,
} from "./joining.ts";
import type { Judged } from "./judged.ts";
import {
  type BatchPart,
  COMPLETE_DETAIL,
  describeParts,
  describeStoredParts,
  isMoney,
} from "./parts.ts";
import { change, isUndecided, judge, listOpenAdvices, settle, type Work } from "./work.ts";

/** An advice and the payment that it is about, for sure or as a doubt. */
type Advised<T> = { advice: T; part: BatchPart; isSure: boolean };

const choose = (
  advice: EntryFacts,
  free: readonly BatchPart[],
  isSure: boolean,
): BatchPart | undefined => {
  const like = free.flatMap((part) => {
    const likeness = compareAdvice(advice, part.facts);
    return likeness === undefined ? [] : [{ part, likeness }];
  });
  const same = like.flatMap(({ part, likeness }) => (likeness === "same" ? [part] : []));
  const named = same.filter(({ facts }) => namesReferenceOf(advice, facts, "all"));
  const best = named.find(({ facts }) => isPayerNamed(advice, facts)) ?? named[0];
  if (best !== undefined) return best;
  // Without a reference, the payer's name decides where one payment fits.
  if (isSure) return same.length === 1 ? same[0] : undefined;
  return same[0] ?? like[0]?.part;
};

/**
 * Pairs advices with payments within entries of several, one to one: those that a reference proves, then those that the
 * payer's name does, then those that may be about one of them.
 */
const pairAdvices = <T extends { facts: EntryFacts; isDoubtful: boolean }>(
  advices: readonly T[],
  parts: readonly BatchPart[],
): Advised<T>[] => {
  const pairs: Advised<T>[] = [];
  const free = new Set(parts);
  const paired = new Set<T>();
  const byMoney = Map.groupBy(parts, ({ facts }) => `${facts.currency} ${facts.amount}`);
  const pair = (isSure: boolean, isAllowed: (one: T, part: BatchPart) => boolean): void => {
    for (const advice of advices) {
      if (paired.has(advice)) continue;
      const equal = byMoney.get(`${advice.facts.currency} ${advice.facts.amount}`) ?? [];
      const part = choose(
        advice.facts,
        equal.filter((one) => free.has(one)),
        isSure,
      );
      if (part === undefined || !isAllowed(advice, part)) continue;
      paired.add(advice);
      free.delete(part);
      pairs.push({ advice, part, isSure });
    }
  };
  pair(true, ({ facts }, part) => namesReferenceOf(facts, part.facts, "all"));
  // An advice that may repeat another entry gives that up for a reference only.
  pair(true, ({ isDoubtful }) => !isDoubtful);
  pair(false, ({ isDoubtful }) => !isDoubtful);
  return pairs;
};

/** Payments that advices are about, or may be. */
const listAdvised = ({ rows, judged }: Work): Set<string> => {
  const stored = [...rows.values()].filter(isAdvice).flatMap((row) => {
    if (row.joined_to !== null) return parsePaymentIds(rows.get(row.joined_to) ?? row);
    return row.part_of === null ? [] : [...parsePaymentIds(row), row.doubt_payment_id ?? ""];
  });
  const fresh = [...judged.values()].flatMap(({ facts, verdict }) =>
    isAdvice(facts) && verdict.as === "joined" ? parsePaymentIds(verdict.root) : [],
  );
  return new Set([...stored, ...fresh]);
};

/** Takes advices for payments of stored batches; one that may be about such a payment is doubtful. */
export const takeForAdvices = async (work: Work): Promise<void> => {
  const { tx, rows } = work;
  const advices = listOpenAdvices(work).map((one) => ({
    one,
    facts: one.facts,
    isDoubtful: one.verdict.as === "doubtful",
  }));
  if (advices.length === 0) return;
  const batches = [...rows.values()].filter(
    (row) =>
      isMoney(row) &&
      row.part_count !== null &&
      !work.own.has(row.id) &&
      !isAdvice(row) &&
      !isReturn(row) &&
      parsePaymentIds(row).length > 1,
  );
  const ids = batches.flatMap(parsePaymentIds);
  const stored = await findRowsOfPayments(tx, work.needs.tenantId, work.needs.source, ids);
  const byPayment = Map.groupBy(stored, (row) => String(row["payment_id"]));
  const advised = listAdvised(work);
  const parts = batches.flatMap((batch) => {
    const own = parsePaymentIds(batch);
    const ofBatch = new Map(own.flatMap((id) => [[id, byPayment.get(id) ?? []] as const]));
    return describeStoredParts(batch, own, ofBatch);
  });
  const free = parts.filter(({ paymentId }) => !advised.has(paymentId));
  for (const { advice, part, isSure } of pairAdvices(advices, free)) {
    const { one } = advice;
    const { paymentId, facts } = part;
    const batch = rows.get(part.batch.id);
    if (batch === undefined) continue;
    if (!isSure) {
      const verdict = doubt(batch.id, paymentId, { of: one.facts, like: batch });
      judge(work, { ...one, verdict, partOf: batch.id });
      continue;
    }
    const isRicher = one.facts.detail > facts.detail;
    const verdict = { as: "part", batch, isRicher } as const;
    judge(work, { ...one, verdict, paymentIds: [paymentId], partOf: batch.id });
    change(work, { ...batch, detail: COMPLETE_DETAIL });
  }
};

const takeStoredAdvice = (
  work: Work,
  one: Judged,
  { place, facts }: BatchPart,
  advice: PaymentEntryRow,
): void => {
  const { verdict } = one;
  const { stored, advised = [] } = verdict.as === "batch" ? verdict : { stored: new Set<number>() };
  const [paymentId = ""] = parsePaymentIds(advice);
  const isRicher = facts.detail > advice.detail;
  const detail = Math.max(facts.detail, advice.detail);
  settle(work, { ...advice, detail }, one.facts.id);
  judge(work, {
    ...one,
    verdict: {
      as: "batch",
      stored: isRicher ? stored : new Set([...stored, place]),
      advised: isRicher ? advised : [...advised, paymentId],
    },
    paymentIds: one.paymentIds.with(place, paymentId),
  });
};

const doubtStoredAdvice = (
  work: Work,
  { facts, entry }: Judged,
  { place, paymentId: like }: BatchPart,
  advice: PaymentEntryRow,
): void => {
  const [paymentId = ""] = parsePaymentIds(advice);
  change(work, {
    ...advice,
    part_of: facts.id,
    doubt: "open",
    doubt_of: facts.id,
    doubt_payment_id: like,
  });
  work.doubts.push({
    line: entry.payments[place]?.line ?? entry.line,
    paymentId,
    currencyCode: advice.currency,
    amount: Number(advice.amount),
    reason: describeDoubt(like, { of: advice, like: facts }),
  });
};

/** Finds the stored advices about payments of new batches; those that may be about one become doubtful. */
export const findStoredAdvices = (work: Work): void => {
  const rows = [...work.rows.values()];
  const roots = new Set(rows.map(({ joined_to: root }) => root));
  const advices = rows
    .filter(
      (row) =>
        isAdvice(row) &&
        isMoney(row) &&
        row.part_of === null &&
        !isReturn(row) &&
        !roots.has(row.id) &&
        !work.own.has(row.id),
    )
    .map((facts) => ({ facts, isDoubtful: facts.doubt === "open" }));
  if (advices.length === 0) return;
  const held = new Set(rows.flatMap((row) => (row.part_of === null ? [] : parsePaymentIds(row))));
  const batches = [...work.judged.values()].filter(
    (one) =>
      one.entry.payments.length > 1 &&
      !isAdvice(one.facts) &&
      !isReturn(one.facts) &&
      (isUndecided(one) || (one.known === undefined && one.verdict.as === "batch")),
  );
  const parts = batches.flatMap(({ facts, entry, paymentIds }) =>
    describeParts(facts, entry.payments, paymentIds),
  );
  const free = parts.filter(({ paymentId }) => !held.has(paymentId));
  for (const { advice, part, isSure } of pairAdvices(advices, free)) {
    const one = work.judged.get(part.batch.id);
    if (one === undefined) continue;
    if (isSure) takeStoredAdvice(work, one, part, advice.facts);
    else doubtStoredAdvice(work, one, part, advice.facts);
  }
};
