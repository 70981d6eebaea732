import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { contract } from "../contract/index.ts";
import { type DisputeFilters, disputeFilters } from "../contract/insights/dispute-filters.ts";
import type { DisputeNote } from "../contract/operations/dispute-notes.ts";
import { mapConcurrent } from "../kit/map-concurrent.ts";
import { cutText, omitNulls, toDay } from "./brief.ts";
import { createDisputeGroups, listCurrencyTotals } from "./dispute-groups.ts";
import { createDocumentReader } from "./document-reader.ts";
import { type Page, selectItemsOf } from "./groups.ts";
import { defineInsight, type Fields, type InsightContext, type InsightResult } from "./insight.ts";
import { readMatching } from "./matching-disputes.ts";
import { readPart } from "./read-part.ts";
import {
  type Candidate,
  createOpenClaims,
  type Evidence,
  type Flags,
  judge,
  type Judgement,
  rankAmounts,
  toCandidate,
} from "./triage-score.ts";

const MOST_CALLS = 150;
const MOST_DOCUMENTS = 100;
/** Pages of a thousand; the rest of the calls is for documents, notes and files. */
const MOST_DISPUTES = 90_000;
const CALLS_PER_ITEM = 2;
const CONCURRENT_ITEMS = 4;
const JUDGED_PER_TURN = 5000;
const NOTE_CHARACTERS = 120;
const FLAGS = ["documentClosed", "duplicate", "unassigned", "stale"] as const;

const { disputes, dispute_notes, dispute_attachments, assignees } = contract;

const TriageBody = z.strictObject({
  ...disputeFilters,
  status: disputeFilters.status.default(["Open"]).meta({ description: "default Open" }),
  limit: z
    .int("must be a whole number, such as 15")
    .min(1)
    .max(100)
    .default(15)
    .describe("items; default 15"),
  orderBy: z.enum(["priority", "amount", "age"]).default("priority").describe("default priority"),
});
type Triage = z.output<typeof TriageBody>;

const Unknown = z.literal("unknown");

const TriageItem = z.object({
  rank: z.int(),
  score: z.int().meta({ description: "0 to 100" }),
  disputeId: z.string(),
  disputeCode: z.string(),
  accountNumber: z.string(),
  accountName: z.string().optional(),
  documentNumber: z.string(),
  documentStatus: z.string().meta({ description: "open, closed, missing or unknown" }),
  amount: z.number(),
  currencyCode: z.string(),
  reasonName: z.string(),
  assigneeName: z.string().optional(),
  ageDays: z.int(),
  daysSinceUpdate: z.int(),
  why: z.array(z.string()),
  lastNote: z.union([z.object({ date: z.string(), text: z.string() }), Unknown]).optional(),
  attachments: z.union([z.int(), Unknown]),
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

type Judged = Candidate & Judgement;

const ORDERS: Record<Triage["orderBy"], ((of: Judged) => number)[]> = {
  priority: [({ score }) => score, ({ amount }) => amount, ({ createdAt }) => -createdAt],
  amount: [({ amount }) => amount, ({ score }) => score, ({ createdAt }) => -createdAt],
  age: [({ createdAt }) => -createdAt, ({ score }) => score, ({ amount }) => amount],
};

/** Returns a page of the disputes: by priority, ties by larger amount, then older, then code. */
const selectItems = (
  judged: readonly Judged[],
  { orderBy, ...page }: Pick<Triage, "orderBy"> & Page,
): Promise<Judged[]> =>
  selectItemsOf(judged, page, (a, b) => {
    for (const figure of ORDERS[orderBy]) {
      if (figure(a) !== figure(b)) return figure(b) - figure(a);
    }
    return a.disputeCode < b.disputeCode ? -1 : 1;
  });

type FlagCounts = Record<Exclude<keyof Flags, "documentClosed">, number> & {
  /** Null if the status of no document is known. */
  documentClosed: number | null;
};

const countFlags = (judged: readonly Judged[], { documentOf }: Evidence): FlagCounts => {
  const counts = { documentClosed: 0, duplicate: 0, unassigned: 0, stale: 0 };
  for (const { flags } of judged) {
    for (const flag of FLAGS) counts[flag] += Number(flags[flag]);
  }
  const isKnown = ({ documentNumber }: Judged) => documentOf(documentNumber).status !== "unknown";
  if (judged.length > 0 && !judged.some(isKnown)) return { ...counts, documentClosed: null };
  return counts;
};

const toLastNote = (notes: readonly DisputeNote[]): Fields | undefined => {
  const [newest] = notes.toSorted((a, b) => (a.createDate < b.createDate ? 1 : -1));
  if (newest === undefined) return undefined;
  const { createDate, content } = newest;
  return { date: toDay(createDate), text: cutText(content, NOTE_CHARACTERS) };
};

type Details = { lastNote?: Fields | "unknown" | undefined; attachments: number | "unknown" };

const UNREAD: Details = { lastNote: "unknown", attachments: "unknown" };

const NOT_READ = "it was not read.";

/** Reads notes and files of a dispute, and adds why a part of them cannot be read. */
const readDetails = async (
  context: InsightContext,
  disputeId: string,
  reasons: Set<string>,
): Promise<Details> => {
  const [notes, files] = await Promise.all([
    readPart(context, dispute_notes.list, { disputeId }),
    readPart(context, dispute_attachments.list, { disputeId }),
  ]);
  for (const { refused } of [notes, files]) if (refused !== undefined) reasons.add(refused.reason);
  return {
    lastNote: notes.refused === undefined ? toLastNote(notes.value) : "unknown",
    attachments: files.refused === undefined ? files.value.length : "unknown",
  };
};

const toItem = (one: Judged, rank: number, { documentOf }: Evidence, details: Details): Fields =>
  omitNulls({
    rank,
    score: one.score,
    disputeId: one.disputeId,
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
    why: one.why,
    ...details,
  });

/** Reads notes and files of the items, as far as the calls reach. */
const readItems = async (
  context: InsightContext,
  chosen: readonly Judged[],
  evidence: Evidence,
  calls: number,
): Promise<{ items: Fields[]; notes: string[] }> => {
  const affordable = Math.max(0, Math.floor(calls / CALLS_PER_ITEM));
  const all: Details[] = [];
  const reasons = new Set<string>();
  const read = ({ disputeId }: Judged) => readDetails(context, disputeId, reasons);
  for await (const one of mapConcurrent(chosen.slice(0, affordable), CONCURRENT_ITEMS, read)) {
    all.push(one);
    await context.progress(`Read notes and files of ${all.length} of ${chosen.length} disputes.`);
  }
  const items = chosen.map((one, place) =>
    toItem(one, context.skip + place + 1, evidence, all[place] ?? UNREAD),
  );
  const unknown = items.filter((item) => Object.values(item).includes("unknown")).length;
  const notes =
    unknown === 0
      ? []
      : [`Of ${unknown} listed disputes a part is unknown: ${[...reasons].join(" ") || NOT_READ}`];
  return { items, notes };
};

/** Reads the disputes that match, and the open ones beside them that may be duplicates. */
const readCandidates = async (context: InsightContext, filters: DisputeFilters) => {
  const candidates: Candidate[] = [];
  const claims = createOpenClaims();
  const totals = createDisputeGroups({ groupBy: [], ageBuckets: [] });
  const limits = {
    ...context.limits,
    disputes: Math.min(context.limits.disputes, MOST_DISPUTES),
  };
  const documents = createDocumentReader(context, MOST_DOCUMENTS);
  const matching = await readMatching({ ...context, limits }, filters, documents, {
    match(standing, moment) {
      candidates.push(toCandidate(standing, moment));
      totals.add(standing);
    },
    see({ dispute, status }) {
      if (status === "Open") claims.add(dispute);
    },
  });
  return { candidates, claims, totals, matching, documents };
};

/** Judges each dispute, and gives the event loop a turn now and then. */
const judgeAll = async (
  candidates: readonly Candidate[],
  evidence: Evidence,
): Promise<Judged[]> => {
  const judged: Judged[] = [];
  for (const one of candidates) {
    // Lets requests take their turn.
    if (judged.length % JUDGED_PER_TURN === JUDGED_PER_TURN - 1) await setImmediate();
    judged.push({ ...one, ...judge(one, evidence) });
  }
  return judged;
};

/** Returns document numbers, first those of the disputes that lead without regard to documents. */
const rankDocuments = async (
  candidates: readonly Candidate[],
  evidence: Evidence,
): Promise<string[]> => {
  const judged = await judgeAll(candidates, evidence);
  const leading = await selectItems(judged, { orderBy: "priority", limit: MOST_DOCUMENTS });
  return [...leading, ...candidates].map(({ documentNumber }) => documentNumber);
};

const triage = async (context: InsightContext, args: Triage): Promise<InsightResult> => {
  const { limit, orderBy, ...filters } = args;
  const { skip } = context;
  const { counted, left } = countCalls(context);
  const [{ inactive, notes: missing }, { candidates, claims, totals, matching, documents }] =
    await Promise.all([readInactive(counted), readCandidates(counted, filters)]);
  const rankOf = rankAmounts(candidates);
  const evidence = { claims, inactive, rankOf, documentOf: documents.stateOf };
  const reserve = CALLS_PER_ITEM * Math.min(limit, Math.max(0, candidates.length - skip));
  const most = Math.max(left() - reserve, Math.floor(left() / 2));
  await documents.read(await rankDocuments(candidates, evidence), most);
  const judged = await judgeAll(candidates, evidence);
  const leading = await selectItems(judged, { orderBy, limit, offset: skip });
  const closed = leading.filter(({ flags }) => flags.documentClosed);
  const closings = closed.map(({ documentNumber }) => documentNumber);
  await documents.readClosings(closings, left() - CALLS_PER_ITEM * leading.length);
  const chosen = leading.map((one) => ({ ...one, ...judge(one, evidence) }));
  const { items, notes } = await readItems(counted, chosen, evidence, left());
  return {
    asOf: matching.moment.name,
    filter: { ...filters, orderBy },
    rowCount: matching.rowCount,
    truncated: matching.truncated,
    currencyTotals: await listCurrencyTotals(totals),
    itemsTotal: candidates.length,
    flags: countFlags(judged, evidence),
    notes: [
      ...matching.notes,
      ...(filters.asOf === undefined ? [] : [PRESENT]),
      ...missing,
      ...documents.notes(),
      ...notes,
    ],
    items,
  };
};

export const disputesTriage = defineInsight({
  name: "disputes_triage",
  title: "Triage disputes",
  input: TriageBody,
  figures: z.object({ flags: z.record(z.enum(FLAGS), z.int().nullable()) }),
  item: TriageItem,
  needs: [disputes.list],
  run: triage,
});
