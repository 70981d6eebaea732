import { z } from "zod";
import { contract } from "../contract/index.ts";
import { findAgreement } from "../contract/insights/agreement.ts";
import { Currency, Day, ItemLimit, wordAmong } from "../contract/insights/arguments.ts";
import { disputeFilters } from "../contract/insights/dispute-filters.ts";
import { formatSpan } from "../contract/insights/calendar.ts";
import type { CurrencyTotal } from "../contract/insights/result.ts";
import { Amount, RecordNumber } from "../contract/fields.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { formatTimestamp } from "../kit/clock.ts";
import { forEachInTurns, mapInTurns } from "../kit/in-turns.ts";
import { omitNulls } from "./brief.ts";
import { readReasons } from "./claim-reasons.ts";
import { createSums, formatTotal } from "./decimal.ts";
import { type Deduction, isNarrow, readDeductions } from "./deductions-taken.ts";
import { addToDocument, claimsOn, explainDocument, MOST_COMPARED } from "./explained-deductions.ts";
import { createKeyIndex, selectPage } from "./groups.ts";
import { defineInsight, type Fields, type InsightContext, mostItems } from "./insight.ts";
import { readDisputes } from "./read-disputes.ts";

const GROUPINGS = ["account", "deductionReasonCode", "month"] as const;

const Body = z.strictObject({
  from: Day.optional().meta({ description: "first day of payment" }),
  to: Day.optional().meta({ description: "last day of payment" }),
  accountName: disputeFilters.accountName,
  accountNumber: RecordNumber.optional().describe("such as C-1001"),
  currencyCode: Currency.optional().describe("such as USD"),
  amountMin: Amount.optional().describe("inclusive"),
  groupBy: wordAmong(GROUPINGS)
    .optional()
    .meta({ description: `adds groups by ${GROUPINGS.join(", ")}` }),
  limit: ItemLimit,
});

const toDay = ({ calendar }: InsightContext, day: string | undefined): string | undefined =>
  day === undefined ? undefined : calendar.toDay(day);

/** Comparing sums on one document takes up to a millisecond. */
const DOCUMENTS_PER_TURN = 20;

const [OPEN, CLOSED] = [0, 1] as const;

/**
 * Reads the disputes that can explain deductions, by document: those of all accounts, because the payer of a document can
 * be another account than its own. Canceled ones explain nothing.
 */
const readClaims = async (context: InsightContext, see: (dispute: Dispute) => void) => {
  const documents = new Map<string, Dispute[]>();
  const numbers = new Set<string>();
  const { stopped } = await readDisputes(context, { Status: [OPEN, CLOSED] }, (page) =>
    forEachInTurns(page, (dispute) => {
      addToDocument(documents, dispute);
      numbers.add(dispute.documentNumber);
      see(dispute);
    }),
  );
  return { documents, numbers, stopped };
};

type Claims = Awaited<ReturnType<typeof readClaims>>;

type Proposal = { reasonCode: string; cases: number; of: number };

/** Counts, for each code of customers, the reasons of the disputes that had it. */
const createReasonVotes = () => {
  const votes = new Map<string, { disputes: Set<string>; reasons: Map<string, number> }>();
  return {
    add(code: string, disputeId: string, reasonCode: string) {
      const own = votes.get(code) ?? { disputes: new Set(), reasons: new Map() };
      votes.set(code, own);
      if (own.disputes.has(disputeId)) return;
      own.disputes.add(disputeId);
      own.reasons.set(reasonCode, (own.reasons.get(reasonCode) ?? 0) + 1);
    },
    propose(code: string): Proposal | undefined {
      const agreed = findAgreement(votes.get(code)?.reasons ?? new Map<string, number>());
      return agreed && { reasonCode: agreed.value, cases: agreed.cases, of: agreed.of };
    },
  };
};

type Votes = ReturnType<typeof createReasonVotes>;

/** Counts a dispute for the customer's code, by its own reason. */
const vote = (
  votes: Votes,
  codes: Codes,
  code: string | null | undefined,
  { disputeId, reasonId }: Dispute,
): void => {
  const reasonCode = codes.get(reasonId);
  if (code === null || code === undefined || code === "" || reasonCode === undefined) return;
  votes.add(code.toLowerCase(), disputeId, reasonCode);
};

type Codes = ReadonlyMap<string, string>;

/** More conditions than these codes need would be refused. */
const MOST_CODES = 40;

/**
 * Counts the disputes that explain deductions with some codes, of all days and accounts: a reason is proposed by the code,
 * and not by what was asked for. Returns why not all were counted.
 */
const countEarlier = async (
  context: InsightContext,
  found: readonly Deduction[],
  { votes, codes, claims }: { votes: Votes; codes: Codes; claims: Claims },
): Promise<string | undefined> => {
  const named = new Set(found.flatMap(({ deductionReasonCode: code }) => code || []));
  if (named.size === 0) return undefined;
  const conditions = named.size > MOST_CODES ? {} : { codes: [...named] };
  const isDisputed = (number: string): boolean => claims.numbers.has(number);
  const { documents, stopped } = await readDeductions(context, conditions, isDisputed);
  const count = (own: readonly Deduction[]): void => {
    const { explained } = explainDocument(own, claimsOn(claims.documents, own));
    for (const { deduction, disputes } of explained) {
      for (const dispute of disputes) vote(votes, codes, deduction.deductionReasonCode, dispute);
    }
  };
  await forEachInTurns(documents.values(), count, DOCUMENTS_PER_TURN);
  return stopped;
};

type Grouping = (typeof GROUPINGS)[number];

const keyOf = (grouping: Grouping, one: Deduction): string | null => {
  if (grouping === "account") return one.accountNumber;
  if (grouping === "month")
    return one.paymentDate === null ? null : formatSpan(one.paymentDate, "month");
  return one.deductionReasonCode;
};

const MOST_GROUPS = 50;

type Totals = { add(key: string | null, one: Deduction): void; list(): Fields[] };

/** Adds up deductions per key and currency, exactly; the largest sums come first. */
const createTotals = (): Totals => {
  const index = createKeyIndex(2);
  const sums = createSums();
  const counts: number[] = [];
  return {
    add(key, { currencyCode, amount }) {
      const group = index.find([currencyCode, key]);
      sums.add(group, amount);
      counts[group] = (counts[group] ?? 0) + 1;
    },
    list: () =>
      counts
        .map((count, group) => ({ count, group }))
        .toSorted((a, b) => sums.compare(b.group, a.group))
        .map(({ count, group }) => ({
          key: index.valueAt(1, group),
          currencyCode: index.valueAt(0, group),
          count,
          amount: formatTotal(sums.total(group)),
        })),
  };
};

const toItem = ({ accountName, text, ...one }: Deduction, proposal: Proposal | undefined): Fields =>
  omitNulls({ ...one, accountName, text: text === "" ? null : text, proposedReason: proposal });

/** Lists deductions without a dispute, the largest first, with the reason of earlier disputes that had the customer's code. */
export const deductionsWithoutDispute = defineInsight({
  name: "deductions_without_dispute",
  title: "Deductions without a dispute",
  input: Body,
  item: z.object({
    accountNumber: z.string().optional(),
    accountName: z.string().optional(),
    documentNumber: z.string(),
    paymentId: z.string().optional(),
    paymentDate: z.string().optional(),
    amount: z.number(),
    currencyCode: z.string(),
    deductionReasonCode: z.string().optional().meta({ description: "the customer's code" }),
    text: z.string().optional().meta({ description: "the customer's words" }),
    proposedReason: z
      .object({ reasonCode: z.string(), cases: z.int(), of: z.int() })
      .optional()
      .meta({ description: "of earlier disputes with the code: at least 5, and 60 %" }),
  }),
  figures: z.object({
    groups: z
      .array(
        z.object({
          key: z.string().nullable(),
          currencyCode: z.string().nullable(),
          count: z.int(),
          amount: z.union([z.number(), z.string()]),
        }),
      )
      .optional(),
  }),
  needs: [contract.payments.query, contract.disputes.list],
  async run(context, args) {
    const { limit, groupBy, ...filter } = args;
    const { reasons, notes } = await readReasons(context);
    const codes = new Map(reasons.map(({ reasonId, code }) => [reasonId, code]));
    const votes = createReasonVotes();
    const days = { from: toDay(context, args.from), to: toDay(context, args.to) };
    const conditions = { ...args, ...days };
    const claims = await readClaims(context, (dispute) => {
      vote(votes, codes, codes.get(dispute.externalReasonId ?? ""), dispute);
    });
    const isDisputed = (number: string): boolean => claims.numbers.has(number);
    const read = await readDeductions(context, conditions, isDisputed);
    const [totals, groups] = [createTotals(), createTotals()];
    const found: Deduction[] = [];
    let cut = 0;
    await forEachInTurns(
      read.documents.values(),
      (own) => {
        const { explained, unexplained, isCut } = explainDocument(
          own,
          claimsOn(claims.documents, own),
        );
        if (isCut) cut += 1;
        for (const { deduction, disputes } of explained) {
          for (const dispute of disputes)
            vote(votes, codes, deduction.deductionReasonCode, dispute);
        }
        for (const one of unexplained) {
          if (one.amount < (filter.amountMin ?? 0) || !read.isSelected(one)) continue;
          found.push(one);
          totals.add(null, one);
          if (groupBy !== undefined) groups.add(keyOf(groupBy as Grouping, one), one);
        }
      },
      DOCUMENTS_PER_TURN,
    );
    const page = { limit: mostItems(context, limit), offset: context.skip };
    const allGroups = groups.list();
    const compare = (a: number, b: number) =>
      (found[b]?.amount ?? 0) - (found[a]?.amount ?? 0) || a - b;
    const places = await selectPage(found.length, page, compare);
    const chosen = places.flatMap((place) => found[place] ?? []);
    const uncounted = isNarrow(conditions)
      ? await countEarlier(context, chosen, { votes, codes, claims })
      : undefined;
    const stops = [read.stopped, claims.stopped, uncounted].filter((note) => note !== undefined);
    return {
      asOf: formatTimestamp(context.now()),
      filter: omitNulls({ ...filter, groupBy }),
      rowCount: found.length,
      truncated: stops.length > 0,
      currencyTotals: totals.list().map(({ key: _key, ...total }) => total) as CurrencyTotal[],
      itemsTotal: found.length,
      notes: [
        ...stops,
        ...(cut === 0
          ? []
          : [`On ${cut} documents only ${MOST_COMPARED} deductions and disputes were added up.`]),
        ...(allGroups.length > MOST_GROUPS
          ? [`The ${MOST_GROUPS} largest of ${allGroups.length} groups are shown.`]
          : []),
        ...read.notes,
        ...notes,
      ],
      ...(groupBy === undefined ? {} : { groups: allGroups.slice(0, MOST_GROUPS) }),
      items: await mapInTurns(chosen, (one) =>
        toItem(one, votes.propose((one.deductionReasonCode ?? "").toLowerCase())),
      ),
    };
  },
});
