import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { contract } from "../contract/index.ts";
import { ItemLimit } from "../contract/insights/arguments.ts";
import type { Calendar } from "../contract/insights/calendar.ts";
import { disputeFilters } from "../contract/insights/dispute-filters.ts";
import { Amount } from "../contract/fields.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { forEachInTurns, mapInTurns } from "../kit/in-turns.ts";
import {
  type DeductionRow,
  findDeduction,
  type Match,
  type Matched,
  MATCHES,
} from "./deduction-match.ts";
import { readDeductionRows } from "./deduction-rows.ts";
import { createDisputeGroups, listCurrencyTotals } from "./dispute-groups.ts";
import { createDocumentReader } from "./document-reader.ts";
import { omitNulls } from "./brief.ts";
import { addToList, type Page, selectItemsOf } from "./groups.ts";
import {
  defineInsight,
  type Fields,
  type InsightContext,
  type InsightResult,
  mostItems,
} from "./insight.ts";
import { readMatching } from "./matching-disputes.ts";
import { createLeftOutRows } from "./standing-payments.ts";

const MOST_DOCUMENTS = 500;
/** With the most rows each, comparing that many takes a few milliseconds. */
const ROWS_PER_TURN = 1000;
const DOCUMENTS_PER_TURN = 100;

const MatchBody = z.strictObject({
  ...disputeFilters,
  status: disputeFilters.status.default(["Open"]).meta({ description: "default Open" }),
  tolerance: Amount.min(0).default(0).meta({ description: "largest difference" }),
  limit: ItemLimit,
});
type MatchArguments = z.output<typeof MatchBody>;

const MatchItem = z.object({
  match: z.string().meta({ description: MATCHES.join(", ") }),
  disputeId: z.string(),
  disputeCode: z.string(),
  accountNumber: z.string(),
  documentNumber: z.string(),
  amount: z.number(),
  currencyCode: z.string(),
  paymentId: z.string().optional(),
  paymentDate: z.string().optional(),
  difference: z.number().optional(),
  deductionReasonCode: z.string().optional(),
  payments: z.int().meta({ description: "rows of the document" }),
});

type Claim = ReturnType<typeof toClaim>;

type Judged = Claim & { matched: Matched; payments: number };

const toClaim = (dispute: Dispute) => ({
  disputeId: dispute.disputeId,
  disputeCode: dispute.disputeCode,
  accountNumber: dispute.accountNumber,
  documentNumber: dispute.documentNumber,
  amount: dispute.amount,
  currencyCode: dispute.currencyCode,
  createDate: dispute.createDate,
});

const readClaims = async (context: InsightContext, args: MatchArguments) => {
  const { tolerance: _tolerance, limit: _limit, ...filters } = args;
  const claims: Claim[] = [];
  const totals = createDisputeGroups({ groupBy: [], ageBuckets: [] });
  const documents = createDocumentReader(context, MOST_DOCUMENTS);
  const matching = await readMatching(context, filters, documents, {
    match(standing) {
      claims.push(toClaim(standing.dispute));
      totals.add(standing);
    },
  });
  return { claims, totals, matching, notes: [...matching.notes, ...documents.notes()] };
};

/** The matches of a row that explains one dispute alone. */
const EXPLAINED: ReadonlySet<Match> = new Set(["exact", "within"]);

/** The rows that explain disputes, with the codes of these. */
type Taken = Map<DeductionRow, string[]>;

/**
 * Matches each dispute with the rows of its document, and gives the event loop a turn now and then. Equal deductions
 * explain one dispute each, as far as there are enough of them.
 */
const judgeAll = async (
  claims: readonly Claim[],
  rowsOf: ReadonlyMap<string, readonly DeductionRow[]>,
  how: { tolerance: number; calendar: Calendar },
): Promise<{ judged: Judged[]; taken: Taken }> => {
  const judged: Judged[] = [];
  const taken: Taken = new Map();
  const isTaken = (row: DeductionRow): boolean => taken.has(row);
  let compared = 0;
  for (const claim of claims) {
    const rows = rowsOf.get(claim.documentNumber) ?? [];
    const matched = findDeduction(claim, rows, { ...how, isTaken });
    const { row, match } = matched;
    if (row !== undefined && EXPLAINED.has(match)) addToList(taken, row, claim.disputeCode);
    judged.push({ ...claim, matched, payments: rows.length });
    compared += rows.length + 1;
    if (compared < ROWS_PER_TURN) continue;
    compared = 0;
    // Lets requests take their turn.
    await setImmediate();
  }
  return { judged, taken };
};

const MOST_SHARED = 5;

const describeShared = (taken: Taken): string[] => {
  const shared = [...taken.values()].filter((codes) => codes.length > 1);
  const [first] = shared;
  if (first === undefined) return [];
  const rows = shared.length === 1 ? "1 payment row is" : `${shared.length} payment rows are`;
  const codes = first.slice(0, MOST_SHARED).join(", ");
  const isCut = shared.length > 1 || first.length > MOST_SHARED;
  return [
    `${rows} the match of several disputes, of which each row explains one: ${codes}${isCut ? " and others" : ""}.`,
  ];
};

/** Says which rows of the documents were not compared, each counted once. */
const describeLeftOut = async (
  claims: readonly Claim[],
  rowsOf: ReadonlyMap<string, readonly DeductionRow[]>,
): Promise<string[]> => {
  const currencies = new Map<string, Set<string>>();
  await forEachInTurns(claims, ({ documentNumber, currencyCode }) => {
    const own = currencies.get(documentNumber) ?? new Set();
    currencies.set(documentNumber, own.add(currencyCode));
  });
  const leftOut = createLeftOutRows();
  await forEachInTurns(
    currencies,
    ([number, own]) => leftOut.count(rowsOf.get(number) ?? [], own),
    DOCUMENTS_PER_TURN,
  );
  return leftOut.notes();
};

/** The best matches first, then the larger amounts. */
const selectItems = (judged: readonly Judged[], page: Page): Promise<Judged[]> => {
  const rankOf = ({ matched }: Judged): number => MATCHES.indexOf(matched.match);
  return selectItemsOf(judged, page, (a, b) => {
    const order = rankOf(a) - rankOf(b) || b.amount - a.amount;
    return order === 0 ? (a.disputeCode < b.disputeCode ? -1 : 1) : order;
  });
};

const toItem = ({ matched, payments, createDate: _createDate, ...claim }: Judged): Fields => {
  const { match, row, difference } = matched;
  const found = omitNulls({
    paymentId: row?.paymentId,
    paymentDate: row?.paymentDate,
    difference,
    deductionReasonCode: row?.deductionReasonCode,
  });
  return { match, ...claim, ...found, payments };
};

const countMatches = (judged: readonly Judged[]): Record<Match, number> => {
  const counts = Object.fromEntries(MATCHES.map((match) => [match, 0])) as Record<Match, number>;
  for (const { matched } of judged) counts[matched.match] += 1;
  return counts;
};

const matchDisputes = async (
  context: InsightContext,
  args: MatchArguments,
): Promise<InsightResult> => {
  const { tolerance, limit, ...filters } = args;
  const { claims, totals, matching, notes } = await readClaims(context, args);
  const numbers = new Set<string>();
  await forEachInTurns(claims, ({ documentNumber }) => void numbers.add(documentNumber));
  const read = await readDeductionRows(context, [...numbers]);
  const { judged, taken } = await judgeAll(claims, read.rows, {
    tolerance,
    calendar: context.calendar,
  });
  const chosen = await selectItems(judged, {
    limit: mostItems(context, limit),
    offset: context.skip,
  });
  return {
    asOf: matching.evaluatedAt.name,
    filter: { ...filters, tolerance },
    rowCount: matching.rowCount,
    truncated: matching.truncated || read.notes.length > 0,
    currencyTotals: await listCurrencyTotals(totals),
    itemsTotal: judged.length,
    matches: countMatches(judged),
    notes: [
      ...notes,
      ...read.notes,
      ...(await describeLeftOut(claims, read.rows)),
      ...describeShared(taken),
    ],
    items: await mapInTurns(chosen, toItem),
  };
};

export const paymentsMatchDisputes = defineInsight({
  name: "payments_match_disputes",
  title: "Match payments with disputes",
  input: MatchBody,
  figures: z.object({ matches: z.record(z.enum(MATCHES), z.int()) }),
  item: MatchItem,
  needs: [contract.disputes.list, contract.payments.query],
  run: matchDisputes,
});
