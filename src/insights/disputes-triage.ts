import { z } from "zod";
import { contract } from "../contract/index.ts";
import type { DisputeFilters } from "../contract/insights/dispute-filters.ts";
import { type Triage, TRIAGE_FLAGS, TriageBody } from "../contract/insights/dispute-triage.ts";
import { forEachInTurns, mapInTurns } from "../kit/in-turns.ts";
import { omitNulls } from "./brief.ts";
import { sumInTurns } from "./currency-totals.ts";
import { type ActivityReader, createActivityReader, toDocumentState } from "./dispute-activity.ts";
import { readDeadlines } from "./deadlines.ts";
import { createDocumentReader } from "./document-reader.ts";
import { type Page, selectItemsOf } from "./groups.ts";
import {
  defineInsight,
  type Fields,
  type InsightContext,
  type InsightResult,
  mostItems,
} from "./insight.ts";
import { readMatching } from "./matching-disputes.ts";
import { readPart } from "./read-part.ts";
import type { Moment } from "./standing.ts";
import { shortenTriage } from "./triage-forms.ts";
import { CALLS_PER_ITEM, type Details, type Judged, readItems } from "./triage-items.ts";
import { type RankedPage, readRanked } from "./triage-ranked.ts";
import {
  type Candidate,
  createOpenClaims,
  type Evidence,
  type Flags,
  judge,
  rankAmounts,
  toCandidate,
  withActivity,
} from "./triage-score.ts";

const MOST_CALLS = 150;
const MOST_DOCUMENTS = 100;
/** Pages of a thousand; the rest of the calls is for documents, notes and files. */
const MOST_DISPUTES = 90_000;
/** Pages of a thousand disputes whose notes and files are asked for. */
const MOST_ACTIVITY_CALLS = 20;

const { disputes, assignees } = contract;

const Unknown = z.literal("unknown");

const TriageItem = z.object({
  rank: z.int().optional().meta({ description: "absent: the place in the list" }),
  score: z.int().optional().meta({ description: "0 to 100" }),
  disputeId: z.string().optional().meta({ description: "where the code is not enough" }),
  disputeCode: z.string(),
  accountNumber: z.string().optional(),
  accountName: z.string().optional(),
  documentNumber: z.string().optional().meta({ description: "absent: the one in the code" }),
  documentStatus: z
    .string()
    .optional()
    .meta({ description: "open, closed, missing or unknown; absent: open" }),
  amount: z.number(),
  currencyCode: z.string(),
  reasonName: z.string(),
  assigneeName: z.string().optional(),
  ageDays: z.int(),
  daysSinceUpdate: z.int().optional().meta({ description: "absent: none since its creation" }),
  daysLeft: z.int().optional().meta({ description: "until the deadline; negative after it" }),
  why: z.array(z.string()).optional().meta({ description: "beyond what other fields tell" }),
  lastNote: z.union([z.object({ date: z.string(), text: z.string() }), Unknown]).optional(),
  attachments: z.union([z.int(), Unknown]).optional(),
});

/** Counts the calls of a context, so that later reads get what earlier ones left. */
const countCalls = (context: InsightContext) => {
  let used = 0;
  const call: InsightContext["call"] = (operation, args) => {
    used += 1;
    return context.call(operation, args);
  };
  return { counted: { ...context, call }, left: () => MOST_CALLS - used };
};

const readInactive = async (
  context: InsightContext,
): Promise<{ inactive: ReadonlySet<string>; notes: string[] }> => {
  const part = await readPart(context, assignees.list, {});
  if (part.refused !== undefined) {
    const { reason } = part.refused;
    const notes = [`Assignees cannot be read, so each of them counts as active: ${reason}`];
    return { inactive: new Set(), notes };
  }
  const inactive = part.value.filter(({ active }) => !active).map(({ assigneeId }) => assigneeId);
  return { inactive: new Set(inactive), notes: [] };
};

const PRESENT =
  "Documents, updates, notes and files are those of now; asOf regards disputes and their age.";

const NO_DEADLINES =
  "No deadlines are known, so disputes come by priority: set deadlineDays to order by days left.";

/** The figures that decide the order of disputes. */
type Ranked = Pick<Judged, "score" | "amount" | "createdAt" | "disputeCode" | "daysLeft">;

const ORDERS: Record<Triage["orderBy"], ((of: Ranked) => number)[]> = {
  priority: [({ score }) => score, ({ amount }) => amount, ({ createdAt }) => -createdAt],
  amount: [({ amount }) => amount, ({ score }) => score, ({ createdAt }) => -createdAt],
  age: [({ createdAt }) => -createdAt, ({ score }) => score, ({ amount }) => amount],
  daysLeft: [
    ({ daysLeft = Number.MAX_SAFE_INTEGER }) => -daysLeft,
    ({ score }) => score,
    ({ amount }) => amount,
    ({ createdAt }) => -createdAt,
  ],
};

/** Returns a page of the disputes in an order; ties by its other figures, then by code. */
const selectItems = <Of extends Ranked>(
  judged: readonly Of[],
  { orderBy, ...page }: Pick<Triage, "orderBy"> & Page,
): Promise<Of[]> =>
  selectItemsOf(judged, page, (a, b) => {
    for (const figure of ORDERS[orderBy]) {
      if (figure(a) !== figure(b)) return figure(b) - figure(a);
    }
    return a.disputeCode < b.disputeCode ? -1 : 1;
  });

type FlagCounts = Record<Exclude<keyof Flags, "documentClosed" | "due">, number> & {
  /** Absent without deadlines. */
  due?: number;
  /** Null if the status of no document is known. */
  documentClosed: number | null;
};

const countFlags = async (
  judged: readonly Judged[],
  { documentOf, deadlines }: Evidence,
): Promise<FlagCounts> => {
  const all = { documentClosed: 0, duplicate: 0, unassigned: 0, stale: 0, due: 0 };
  let isKnown = judged.length === 0;
  await forEachInTurns(judged, ({ flags, documentNumber }) => {
    for (const flag of TRIAGE_FLAGS) all[flag] += Number(flags[flag]);
    isKnown ||= documentOf(documentNumber).status !== "unknown";
  });
  const { due: _due, ...others } = all;
  const counts = deadlines.isSet ? all : others;
  return isKnown ? counts : { ...counts, documentClosed: null };
};

const toItem = (one: Judged, rank: number, { documentOf }: Evidence, details: Details): Fields =>
  omitNulls({
    rank,
    score: one.score,
    disputeId: one.disputeCode === "" ? one.disputeId : null,
    disputeCode: one.disputeCode,
    accountNumber: one.accountNumber,
    accountName: one.accountName,
    documentNumber: one.documentNumber,
    documentStatus: documentOf(one.documentNumber).status,
    amount: one.amount,
    currencyCode: one.currencyCode,
    reasonName: one.reasonName,
    assigneeName: one.assigneeName,
    ageDays: one.ageDays,
    daysSinceUpdate: one.daysSinceUpdate,
    daysLeft: one.daysLeft,
    why: one.why,
    lastNote: details.lastNote,
    attachments: details.attachments,
  });

/** Reads the disputes that match, and the open ones beside them that may be duplicates. */
const readCandidates = async (context: InsightContext, filters: DisputeFilters) => {
  const candidates: Candidate[] = [];
  const claims = createOpenClaims();
  const limits = {
    ...context.limits,
    disputes: Math.min(context.limits.disputes, MOST_DISPUTES),
  };
  const documents = createDocumentReader(context, MOST_DOCUMENTS);
  const matching = await readMatching({ ...context, limits }, filters, documents, {
    match(standing, evaluatedAt) {
      candidates.push(toCandidate(standing, evaluatedAt));
    },
    see({ dispute, status }) {
      if (status === "Open") claims.add(dispute);
    },
  });
  return { candidates, claims, matching, documents };
};

const judgeAll = (candidates: readonly Candidate[], evidence: Evidence): Promise<Judged[]> =>
  mapInTurns(candidates, (one) => ({ ...one, ...judge(one, evidence) }));

/** Returns document numbers, first those of the disputes that lead without regard to documents. */
const rankDocuments = async (
  candidates: readonly Candidate[],
  evidence: Evidence,
  orderBy: Triage["orderBy"],
): Promise<string[]> => {
  // Only what decides is held of each: reasons of all of them are much to collect.
  const ranked = await mapInTurns(candidates, (one) => {
    const { amount, createdAt, disputeCode, documentNumber } = one;
    const { score, daysLeft } = judge(one, evidence);
    return { score, daysLeft, amount, createdAt, disputeCode, documentNumber };
  });
  const leading = await selectItems(ranked, { orderBy, limit: MOST_DOCUMENTS });
  return [...leading, ...ranked].map(({ documentNumber }) => documentNumber);
};

/** Asks what happened last to the disputes, where the platform tells it of many at once. */
const learnActivity = async (
  candidates: readonly Candidate[],
  { activity, documents, evaluatedAt }: Pick<Reading, "activity" | "documents" | "evaluatedAt">,
  calls: number,
): Promise<Candidate[]> => {
  const ids = candidates.map(({ disputeId }) => disputeId);
  await activity.read(ids, Math.min(MOST_ACTIVITY_CALLS, calls));
  return mapInTurns(candidates, (one) => {
    const known = activity.of(one.disputeId);
    if (known === undefined) return one;
    documents.learn(one.documentNumber, toDocumentState(evaluatedAt.calendar, known));
    return withActivity(one, known.lastActivityDate, evaluatedAt);
  });
};

type Reading = {
  context: InsightContext;
  left: () => number;
  evidence: Evidence;
  documents: ReturnType<typeof createDocumentReader>;
  activity: ActivityReader;
  evaluatedAt: Moment;
};

/** Judges the disputes after their documents were read, as far as the calls reach. */
const judgeWithDocuments = async (
  candidates: readonly Candidate[],
  { context, left, evidence, documents }: Reading,
  { limit, orderBy }: Pick<Triage, "limit" | "orderBy">,
): Promise<Judged[]> => {
  const reserve = CALLS_PER_ITEM * Math.min(limit, Math.max(0, candidates.length - context.skip));
  const most = Math.max(left() - reserve, Math.floor(left() / 2));
  await documents.read(await rankDocuments(candidates, evidence, orderBy), most);
  return judgeAll(candidates, evidence);
};

/** Reads the rest about the listed disputes, and judges them by it. */
const completeItems = async (
  leading: readonly Judged[],
  { context, left, evidence, documents, activity, evaluatedAt }: Reading,
): Promise<{ items: Fields[]; notes: string[] }> => {
  const closed = leading.filter(({ flags }) => flags.documentClosed);
  const closings = closed.map(({ documentNumber }) => documentNumber);
  await documents.readClosings(closings, left() - CALLS_PER_ITEM * leading.length);
  const { detailed, notes } = await readItems(context, leading, activity, left());
  const items = await mapInTurns(detailed, ({ one, details }, place) => {
    const current = withActivity(one, details.newest, evaluatedAt);
    const judged = { ...current, ...judge(current, evidence) };
    return toItem(judged, context.skip + place + 1, evidence, details);
  });
  return { items, notes };
};

const describeFilter = ({ limit: _limit, ...args }: Triage): Fields => omitNulls(args);

/** Returns the sentences about days: those of now beside a past one, and an order by deadlines that are not known. */
const describeDays = ({ asOf }: Triage): string[] => (asOf === undefined ? [] : [PRESENT]);

const describeOrder = ({ orderBy }: Triage, hasDeadlines: boolean): string[] =>
  orderBy === "daysLeft" && !hasDeadlines ? [NO_DEADLINES] : [];

/** Takes the worklist as the platform ranked it. */
const takeRanked = async (
  context: InsightContext,
  args: Triage,
  { items, evidence, hasDeadlines, isConfigurationRead, ...ranked }: RankedPage,
): Promise<InsightResult> => {
  // What the caller may not read, the platform refuses with the reason.
  const [inactive, deadlines] = isConfigurationRead
    ? [{ notes: [] }, { notes: [] }]
    : await Promise.all([readInactive(context), readDeadlines(context, args.deadlineDays)]);
  const { due, ...flags } = ranked.flags;
  return {
    asOf: ranked.asOf,
    filter: describeFilter(args),
    rowCount: ranked.rowCount,
    truncated: false,
    currencyTotals: ranked.currencyTotals,
    itemsTotal: ranked.rowCount,
    flags: hasDeadlines ? { ...flags, due } : flags,
    notes: [
      ...ranked.notes,
      ...describeDays(args),
      ...inactive.notes,
      ...deadlines.notes,
      ...describeOrder(args, hasDeadlines),
    ],
    items: items.map(({ one, details }, place) =>
      toItem(one, context.skip + place + 1, evidence, details),
    ),
  };
};

/** Reads all disputes in pages, and ranks them. */
const rankPages = async (start: InsightContext, args: Triage): Promise<InsightResult> => {
  const { limit, orderBy, flags, deadlineDays, ...filters } = args;
  const { counted: context, left } = countCalls(start);
  const [{ inactive, notes: missing }, deadlines, found] = await Promise.all([
    readInactive(context),
    readDeadlines(context, deadlineDays),
    readCandidates(context, filters),
  ]);
  const { candidates: read, claims, matching, documents } = found;
  const { evaluatedAt } = matching;
  const activity = createActivityReader(context);
  const candidates = await learnActivity(read, { activity, documents, evaluatedAt }, left());
  const rankOf = rankAmounts(candidates);
  const evidence: Evidence = {
    claims,
    inactive,
    rankOf,
    deadlines,
    documentOf: documents.stateOf,
  };
  const reading: Reading = { context, left, evidence, documents, activity, evaluatedAt };
  const all = await judgeWithDocuments(candidates, reading, args);
  const judged =
    flags === undefined ? all : all.filter((one) => flags.every((flag) => one.flags[flag]));
  const page = { orderBy, limit: mostItems(context, limit), offset: start.skip };
  const leading = await selectItems(judged, page);
  const { items, notes } = await completeItems(leading, reading);
  return {
    asOf: evaluatedAt.name,
    filter: describeFilter(args),
    rowCount: judged.length,
    truncated: matching.truncated,
    currencyTotals: await sumInTurns(judged),
    itemsTotal: judged.length,
    flags: await countFlags(judged, evidence),
    notes: [
      ...matching.notes,
      ...describeDays(args),
      ...missing,
      ...deadlines.notes,
      ...describeOrder(args, deadlines.isSet),
      ...documents.notes(),
      ...notes,
    ],
    items,
  };
};

const triage = async (context: InsightContext, args: Triage): Promise<InsightResult> => {
  const ranked = await readRanked(context, args);
  return ranked === undefined ? rankPages(context, args) : takeRanked(context, args, ranked);
};

export const disputesTriage = defineInsight({
  name: "disputes_triage",
  title: "Triage disputes",
  input: TriageBody,
  figures: z.object({ flags: z.partialRecord(z.enum(TRIAGE_FLAGS), z.int().nullable()) }),
  item: TriageItem,
  needs: [disputes.list],
  shortenItems: shortenTriage,
  run: triage,
});
