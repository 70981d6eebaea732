import { contract } from "../contract/index.ts";
import type { Triage } from "../contract/insights/dispute-triage.ts";
import type { TriageResult } from "../contract/operations/disputes.ts";
import { createDeadlines, type Deadlines } from "./deadlines.ts";
import { toDocumentState } from "./dispute-activity.ts";
import { resolveNames } from "./dispute-names.ts";
import { type InsightContext, mostItems } from "./insight.ts";
import { type Moment, standAt, toMoment } from "./standing.ts";
import { type Details, type Judged, toDetails } from "./triage-items.ts";
import { type Evidence, judge, toCandidate, withActivity } from "./triage-score.ts";

const { triage } = contract.disputes;

/** A part of a worklist as the platform ranked it. */
export type RankedPage = Omit<TriageResult, "items"> & {
  items: { one: Judged; details: Details }[];
  evidence: Evidence;
};

const NONE_REOPENED = { ended: new Map<string, never>(), notes: [] };

/** The facts of the items as evidence, by which each is judged like one that was read in pages. */
const createEvidence = (
  items: TriageResult["items"],
  evaluatedAt: Moment,
  days: Deadlines,
): Evidence => {
  const byId = new Map(items.map((item) => [item.dispute.disputeId, item]));
  const documents = new Map(
    items.map(({ dispute, activity }) => [
      dispute.documentNumber,
      toDocumentState(evaluatedAt.calendar, activity),
    ]),
  );
  const inactive = items.flatMap(({ dispute: { assigneeId }, isAssigneeInactive }) =>
    isAssigneeInactive && assigneeId !== null ? [assigneeId] : [],
  );
  return {
    documentOf: (number) => documents.get(number) ?? { status: "unknown" },
    claims: {
      add() {},
      findOther: ({ disputeId }) => byId.get(disputeId)?.duplicate ?? undefined,
    },
    rankOf({ disputeId }) {
      const { amountPoints = 0, amountPercent = 100 } = byId.get(disputeId) ?? {};
      return { points: amountPoints, percent: amountPercent };
    },
    inactive: new Set(inactive),
    deadlines: days,
  };
};

const judgeItem = (
  item: TriageResult["items"][number],
  evaluatedAt: Moment,
  evidence: Evidence,
): Judged[] => {
  const standing = standAt(item.dispute, evaluatedAt, NONE_REOPENED);
  if (standing === undefined) return [];
  const candidate = { ...toCandidate(standing, evaluatedAt), isOpen: item.isOpen };
  const current = withActivity(candidate, item.activity.lastActivityDate, evaluatedAt);
  return [{ ...current, ...judge(current, evidence) }];
};

/**
 * Reads a part of a worklist that the platform ranks. Undefined where it cannot, or where the names of the filters must
 * be compared with those in the disputes, because the configuration cannot be read.
 */
export const readRanked = async (
  context: InsightContext,
  args: Triage,
): Promise<RankedPage | undefined> => {
  // A whole worklist is read faster in pages than in parts that are each ranked.
  if (!context.extensions.has(triage.id) || context.isWhole) return undefined;
  const names = await resolveNames(context, args);
  if (names.conditions.some(({ ids }) => ids === undefined)) return undefined;
  const page = { ...args, limit: mostItems(context, args.limit), offset: context.skip };
  const { output } = await context.call(triage, page);
  const { items, ...figures } = output;
  const now = () => Date.parse(output.asOf);
  const evaluatedAt = toMoment(args.asOf, { now, calendar: context.calendar });
  const days = new Map(items.map(({ dispute, disputeDays }) => [dispute.reasonId, disputeDays]));
  const deadlines = createDeadlines((id) => days.get(id) ?? undefined, output.hasDeadlines);
  const evidence = createEvidence(items, evaluatedAt, deadlines);
  return {
    ...figures,
    notes: [...names.notes, ...output.notes],
    items: items.flatMap((item) =>
      judgeItem(item, evaluatedAt, evidence).map((one) => ({
        one,
        details: toDetails(context, item.activity),
      })),
    ),
    evidence,
  };
};
