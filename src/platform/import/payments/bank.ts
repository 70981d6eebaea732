import Big from "big.js";
import type { Fault } from "../../../contract/errors.ts";
import type { Checked } from "../../../contract/faults.ts";
import type { Clock } from "../../../kit/clock.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import { findEntries, putEntries, RETURN_WAITS } from "../../store/queries/payment-entries.ts";
import { findRowsOfPayments } from "../../store/queries/payments.ts";
import type { Db } from "../../store/port.ts";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import type { Entry, EntryPayment } from "../bank/entry.ts";
import { omitEmpty, parseAmount, takeLast4 } from "../bank/file.ts";
import type { PaymentItem } from "../items.ts";
import type { Accepted, Journal, Money, Outcome } from "../target.ts";
import {
  derivePaymentIdOf,
  describeEntry,
  parsePaymentIds,
  toBankReference,
} from "./entry-facts.ts";
import { findCandidates, type PartFacts } from "./candidates.ts";
import { createJoiner, doubt, isReturn } from "./joining.ts";
import type { BankPayment, Judged } from "./judged.ts";
import {
  describeReturns,
  linkReturns,
  linkWaitingReturns,
  relinkReturns,
  saveReturns,
} from "./returns.ts";
import { createRowCheck } from "./row.ts";
import { connectBatches } from "./batches.ts";
import { settleDistinct } from "./distinct.ts";
import { addDepositDay, completeAdvices } from "./completing.ts";
import { type Moved, moveAdvices } from "./moving.ts";
import { COMPLETE_DETAIL, describeParts } from "./parts.ts";
import { createEqualEntries } from "./repeats.ts";
import { savePayments, type WholePayment } from "./save.ts";

const SOURCE = "cashapp";

type Needs = { tenantId: string; clock: Clock };

const toCells = (entry: Entry, payment: EntryPayment): Record<string, unknown>[] => {
  const { returned } = payment;
  const shared = omitEmpty({
    ...payment.cells,
    paymentDate: entry.day,
    currencyCode: entry.currency,
    paymentAmount: parseAmount(payment.amount),
    bankAccountLast4: payment.cells["bankAccountLast4"] ?? takeLast4(entry.account),
    ...(returned === undefined
      ? {}
      : { applicationStatus: "reversed", returnReason: returned.reason }),
  });
  const { remittances } = payment;
  if (remittances.length === 0) return [shared];
  return remittances.map(({ cells }) => omitEmpty({ ...shared, ...cells }));
};

/** Checks the rows of a payment of a bank file. */
export const createBankCheck = (tenantId: string) => {
  const check = createRowCheck(SOURCE, tenantId);
  return ({ entry, payment }: PaymentItem): Checked<BankPayment> => {
    const faults: Fault[] = [];
    const rows = toCells(entry, payment).map((cells) => {
      // The id comes later, from the entry's facts; the check wants one.
      const checked = check({ ...cells, paymentId: "-" });
      faults.push(...(checked.faults ?? []));
      return { ...checked.value };
    });
    return faults.length > 0 ? { faults } : { value: { entry, payment, rows } };
  };
};

export const getBankMoney = ({ entry, payment }: BankPayment): Money => ({
  currency: entry.currency,
  amount: payment.amount,
});

const groupByEntry = (rows: readonly Accepted<BankPayment>[]): Map<Entry, BankPayment[]> => {
  const byEntry = new Map<Entry, BankPayment[]>();
  for (const { values } of rows) {
    byEntry.set(values.entry, [...(byEntry.get(values.entry) ?? []), values]);
  }
  return byEntry;
};

/**
 * Finds the payments that the version before stored for the same records, by the ids that it derived. Messages without
 * references have the same ids, so those that an entry has already are no longer free.
 */
const findFormerIds = async (
  tx: Db,
  tenantId: string,
  entries: readonly Entry[],
  candidates: readonly PaymentEntryRow[],
): Promise<ReadonlySet<string>> => {
  const ids = entries.flatMap(({ payments }) => payments.flatMap(({ formerIds }) => formerIds));
  const rows = await findRowsOfPayments(tx, tenantId, SOURCE, [...new Set(ids)]);
  const taken = new Set(candidates.flatMap(parsePaymentIds));
  const found = rows.map((row) => String(row["payment_id"]));
  return new Set(found.filter((id) => !taken.has(id)));
};

const choosePaymentIds = (
  { facts, entry, known, verdict }: Omit<Judged, "paymentIds" | "payments">,
  former: ReadonlySet<string>,
): string[] => {
  const stored =
    known === undefined
      ? verdict.as === "joined"
        ? parsePaymentIds(verdict.root)
        : []
      : parsePaymentIds(known);
  return entry.payments.map(
    ({ formerIds }, place) =>
      stored[place] ?? formerIds.find((id) => former.has(id)) ?? derivePaymentIdOf(facts.id, place),
  );
};

/** Whether an entry brings its payments: not if they are stored already with at least as many details. */
const bringsPayments = ({ facts, known, verdict }: Judged): boolean => {
  if (known !== undefined) {
    // Another message may have given the payments, or more details of them, since.
    const isOwn = parsePaymentIds(known)[0] === derivePaymentIdOf(known.id, 0);
    const hasMore = facts.detail > known.detail || (isOwn && facts.detail === known.detail);
    return known.joined_to === null && hasMore && known.doubt !== "same";
  }
  if (verdict.as === "part") return verdict.isRicher;
  return verdict.as !== "joined" || facts.detail > verdict.root.detail;
};

/** Whether an entry has a payment that is no entry of its own. */
const bringsOwn = ({ entry, verdict }: Judged): boolean =>
  verdict.as !== "batch" || entry.payments.some((_, place) => !verdict.stored.has(place));

const toWhole = ({ payments, entry, paymentIds, verdict, facts, known }: Judged): WholePayment[] =>
  payments.flatMap(({ payment, rows }) => {
    const place = entry.payments.indexOf(payment);
    if (verdict.as === "batch" && verdict.stored.has(place)) return [];
    const paymentId = paymentIds[place] ?? derivePaymentIdOf(facts.id, 0);
    const isDoubtful = verdict.as === "doubtful" && known === undefined;
    return [{ paymentId, rows, ...(isDoubtful ? { doubt: verdict.reason } : {}) }];
  });

type Found = { judged: readonly Judged[]; candidates: readonly PaymentEntryRow[] };

/** Doubts the entries of a message that the file has twice: each may repeat the one that the message had first. */
const doubtRepeats = (
  judged: readonly Judged[],
  stored: ReadonlyMap<string, PaymentEntryRow>,
): readonly Judged[] => {
  if (judged.every(({ repeats }) => repeats === undefined)) return judged;
  const byId = new Map(judged.map((one) => [one.facts.id, one]));
  return judged.map((one) => {
    if (one.repeats === undefined || one.known !== undefined) return one;
    const first = byId.get(one.repeats);
    const row = first?.known ?? stored.get(one.repeats);
    const root = first?.verdict.as === "joined" ? first.verdict.root.id : row?.joined_to;
    const [paymentId = one.repeats] = first?.paymentIds ?? (row ? parsePaymentIds(row) : []);
    return { ...one, verdict: doubt(root ?? one.repeats, paymentId) };
  });
};

/** Lists the payments of entries of several, which can be stored as entries of their own. */
const listParts = (fresh: readonly Pick<Judged, "facts" | "entry">[]): PartFacts[] =>
  fresh.flatMap(({ facts: { account, currency, day, part_count: count }, entry }) => {
    if (count === null) return [];
    return entry.payments.map(({ amount, references }) => ({
      currency,
      day,
      amount: new Big(amount).toFixed(),
      references: references.flatMap((text) => toBankReference(account, text) ?? []),
    }));
  });

const judgeEntries = async (
  tx: Db,
  { tenantId, now, own }: Scope,
  byEntry: ReadonlyMap<Entry, BankPayment[]>,
  findPlace: ReturnType<typeof createEqualEntries>["number"],
  journal: Journal,
): Promise<Found & { moved: Moved | undefined }> => {
  const described = [...byEntry].map(([entry, payments]) => ({
    entry,
    payments,
    ...describeEntry(tenantId, entry, findPlace),
  }));
  const ids = described.flatMap(({ facts, repeats }) => [facts.id, repeats ?? facts.id]);
  const stored = await findEntries(tx, tenantId, [...new Set(ids)]);
  const known = new Map(stored.map((row) => [row.id, row]));
  const fresh = described.filter(
    ({ facts, repeats }) => !known.has(facts.id) && repeats === undefined,
  );
  // Entries of this file are never taken for each other, and rows from before have no entries.
  for (const { facts } of described) own.add(facts.id);
  const facts = fresh.map((one) => one.facts);
  const candidates = await findCandidates(tx, tenantId, facts, listParts(fresh));
  const entries = fresh.map(({ entry }) => entry);
  const former = await findFormerIds(tx, tenantId, entries, candidates);
  const judge = (candidates: readonly PaymentEntryRow[]): Found => {
    const verdicts = createJoiner(candidates, own).judge(facts);
    const judged = described.map((one): Judged => {
      const { id } = one.facts;
      const decided = {
        ...one,
        known: known.get(id),
        verdict: verdicts.get(id) ?? ({ as: "new" } as const),
      };
      return { ...decided, paymentIds: choosePaymentIds(decided, former) };
    });
    return { judged: doubtRepeats(judged, known), candidates };
  };
  const first = judge(candidates);
  const needs = { tenantId, source: SOURCE, now } as const;
  const moved = await moveAdvices(tx, needs, first, journal);
  const found = moved === undefined ? first : judge(moved.candidates);
  return { ...(await connectBatches(tx, needs, found, own, journal)), moved };
};

const toEntryRow = (judged: Judged, importId: string): PaymentEntryRow => {
  const { facts, verdict, paymentIds, partOf } = judged;
  const hasPayments = verdict.as === "part" || bringsPayments(judged);
  return {
    ...facts,
    detail: verdict.as === "batch" ? COMPLETE_DETAIL : facts.detail,
    import_id: importId,
    payment_ids: JSON.stringify(hasPayments ? paymentIds : []),
    part_of: partOf ?? null,
    joined_to: verdict.as === "joined" ? verdict.root.id : null,
    doubt_of: verdict.as === "doubtful" ? verdict.like : null,
    doubt_payment_id: verdict.as === "doubtful" ? verdict.paymentId : null,
    doubt: verdict.as === "doubtful" ? "open" : null,
    // A batch whose payments are all entries of their own has nothing that waits.
    waits: isReturn(facts) && bringsOwn(judged) ? RETURN_WAITS.forPayment : null,
  };
};

/** Stores the new entries of a journal and returns their rows by their ids. */
const saveEntries = async (
  tx: Db,
  fresh: readonly Judged[],
  journal: Journal,
): Promise<Map<string, PaymentEntryRow>> => {
  const created = fresh.map((judged) => toEntryRow(judged, journal.importId));
  const enriched = fresh.flatMap(({ verdict, ...judged }, place) => {
    const own = created[place];
    if (verdict.as !== "joined" || own?.payment_ids === "[]") return [];
    const { root } = verdict;
    const after = { ...root, payment_ids: own?.payment_ids ?? "[]", detail: judged.facts.detail };
    journal.changed("payment_entries", root, after);
    return [after];
  });
  journal.created("payment_entries", created);
  await putEntries(tx, [...created, ...enriched]);
  return new Map(created.map((row) => [row.id, row]));
};

const reportDoubts = (judged: readonly Judged[], journal: Journal): void => {
  for (const { verdict, payments, entry, paymentIds, known } of judged) {
    if (verdict.as !== "doubtful" || known !== undefined) continue;
    for (const { payment } of payments) {
      journal.doubt({
        line: payment.line,
        paymentId: paymentIds[entry.payments.indexOf(payment)] ?? "",
        currencyCode: entry.currency,
        amount: new Big(payment.amount).toNumber(),
        reason: verdict.reason,
      });
    }
  }
};

type Scope = {
  tenantId: string;
  now: string;
  /** The ids of the entries of this file so far. */
  own: Set<string>;
};

const writeEntries = async (
  tx: Db,
  { tenantId, now }: Scope,
  judged: readonly Judged[],
  moved: Moved | undefined,
  journal: Journal,
): Promise<Set<string>> => {
  const needs = { tenantId, source: SOURCE, now } as const;
  await completeAdvices(tx, needs, judged, journal);
  const bringing = judged.filter(bringsPayments);
  const credits = bringing.filter(({ facts }) => !isReturn(facts));
  const whole = credits.flatMap((one) => addDepositDay(one, toWhole(one)));
  const changed = await savePayments(tx, needs, whole, journal);
  const created = await saveEntries(
    tx,
    judged.filter(({ known }) => known === undefined),
    journal,
  );
  const returns = bringing.flatMap((one) => {
    const row = created.get(one.facts.id) ?? one.known;
    if (row === undefined || !isReturn(row)) return [];
    const { facts, entry, paymentIds } = one;
    const parts = describeReturns(facts, paymentIds, () =>
      describeParts(facts, entry.payments, paymentIds),
    );
    return [{ row, whole: toWhole(one), parts }];
  });
  const taken = await saveReturns(tx, needs, returns, journal);
  for (const { facts, verdict } of judged) {
    const row = created.get(facts.id);
    const isStored = verdict.as === "part" && !verdict.isRicher;
    if (row !== undefined && isStored && isReturn(row)) await linkReturns(tx, needs, row, journal);
  }
  for (const root of moved?.roots ?? []) await relinkReturns(tx, needs, root, journal);
  const fresh = credits.flatMap(({ facts }) => created.get(facts.id) ?? []);
  await linkWaitingReturns(tx, needs, fresh, journal);
  reportDoubts(judged, journal);
  return new Set([...changed, ...taken]);
};

/** Writes the payments of bank files. */
export const createBankWriter = ({ tenantId, clock }: Needs) => {
  const met = createEqualEntries();
  const own = new Set<string>();
  return {
    async write(
      tx: Db,
      rows: readonly Accepted<BankPayment>[],
      journal: Journal,
    ): Promise<Outcome[]> {
      const scope = { tenantId, now: formatTimestamp(clock()), own };
      const found = await judgeEntries(tx, scope, groupByEntry(rows), met.number, journal);
      const judged = await settleDistinct(
        tx,
        { tenantId, source: SOURCE, now: scope.now },
        found,
        own,
        journal,
      );
      const changed = await writeEntries(tx, scope, judged, found.moved, journal);
      const byEntry = new Map(judged.map((one) => [one.entry, one]));
      return rows.map(({ values: { entry, payment } }) => {
        const one = byEntry.get(entry);
        // The deposit of a moved advice has a payment written for the equal one.
        if (one !== undefined && found.moved?.deposits.has(one.facts.id)) return "written";
        const id = one?.paymentIds[entry.payments.indexOf(payment)] ?? "";
        return one !== undefined && bringsPayments(one) && changed.has(id)
          ? "written"
          : "unchanged";
      });
    },
    close: met.close,
  };
};
