import {
  DAYS_PER_AGE_POINT,
  STALE_DAYS,
  TRIAGE_POINTS as POINTS,
  type TriageFlag,
} from "../contract/insights/dispute-triage.ts";
import { type Deadlines, describeDue, isDue } from "./deadlines.ts";
import type { DocumentState } from "./document-reader.ts";
import { addToList } from "./groups.ts";
import { compareDuplicates, type Compared, describeDuplicate } from "./possible-duplicates.ts";
import type { Moment, Standing } from "./standing.ts";

/** The parts of a dispute that its score and its item need; many are held at a time. */
export type Candidate = ReturnType<typeof toCandidate>;

export const toCandidate = (
  { dispute, status, createdAt, ageDays }: Standing,
  { at, calendar }: Moment,
) => ({
  disputeId: dispute.disputeId,
  disputeCode: dispute.disputeCode,
  accountNumber: dispute.accountNumber,
  accountName: dispute.accountName ?? null,
  documentNumber: dispute.documentNumber,
  amount: dispute.amount,
  currencyCode: dispute.currencyCode,
  reasonId: dispute.reasonId,
  reasonName: dispute.reasonName,
  isOpen: status === "Open",
  poNumber: dispute.poNumber,
  assigneeId: dispute.assigneeId,
  assigneeName: dispute.assigneeName,
  createdAt,
  ageDays,
  daysSinceUpdate: calendar.countElapsedDays(Date.parse(dispute.updateDate), at),
});

type Claim = Pick<Candidate, "accountNumber" | "documentNumber" | "currencyCode" | "amount">;

/** Open disputes by document and amount. */
export type OpenClaims = {
  add(claim: Claim & Compared): void;
  /** Returns another open dispute with the same document and amount. */
  findOther(candidate: Candidate): Compared | undefined;
};

const claimKey = ({ accountNumber, documentNumber, currencyCode, amount }: Claim): string =>
  JSON.stringify([accountNumber, documentNumber, currencyCode, amount]);

/** Two disputes of each claim are enough to find another one than a dispute's own. */
export const createOpenClaims = (): OpenClaims => {
  const known = new Map<string, [first: Compared, second?: Compared]>();
  return {
    add(claim) {
      const key = claimKey(claim);
      const [first] = known.get(key) ?? [];
      const { disputeCode, reasonName, poNumber } = claim;
      const own = { disputeCode, reasonName, poNumber };
      known.set(key, first === undefined ? [own] : [first, own]);
    },
    findOther: (candidate) =>
      known.get(claimKey(candidate))?.find((one) => one?.disputeCode !== candidate.disputeCode),
  };
};

/** The place of an amount among all of its currency. */
export type AmountRanks = (candidate: Candidate) => { points: number; percent: number };

/** Returns how many of ascending numbers are greater than a value. */
const countGreater = (ascending: Float64Array, value: number): number => {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return ascending.length - low;
};

/** Ranks amounts within their currency: the largest has all points, and equal amounts have equal points. */
export const rankAmounts = (candidates: readonly Candidate[]): AmountRanks => {
  const amounts = new Map<string, number[]>();
  for (const { currencyCode, amount } of candidates) addToList(amounts, currencyCode, amount);
  const sorted = new Map(
    [...amounts].map(([currency, list]) => [currency, Float64Array.from(list).toSorted()]),
  );
  return ({ currencyCode, amount }) => {
    const ascending = sorted.get(currencyCode) ?? new Float64Array([amount]);
    const count = ascending.length;
    const greater = countGreater(ascending, amount);
    return {
      points: Math.floor((POINTS.amount * (count - greater)) / count),
      percent: Math.ceil((100 * (greater + 1)) / count),
    };
  };
};

export type Flags = Record<TriageFlag, boolean>;

/** Returns a dispute as of an event after its last change, such as a note. */
export const withActivity = (
  candidate: Candidate,
  newest: string | undefined,
  { at, calendar }: Moment,
): Candidate => {
  if (newest === undefined) return candidate;
  const days = calendar.countElapsedDays(Date.parse(newest), at);
  return { ...candidate, daysSinceUpdate: Math.min(candidate.daysSinceUpdate, days) };
};

export type Judgement = {
  score: number;
  why: string[];
  flags: Flags;
  daysLeft: number | undefined;
};

/** The facts beside the dispute from which its score is computed. */
export type Evidence = {
  documentOf: (number: string) => DocumentState;
  claims: OpenClaims;
  rankOf: AmountRanks;
  /** Ids of assignees that are not active. */
  inactive: ReadonlySet<string>;
  deadlines: Deadlines;
};

/** Days from which the age of a dispute is a reason to work on it. */
const OLD_DAYS = 30;
/** The share of the amounts of a currency, in percent, that are large enough to be a reason. */
const LARGE_PERCENT = 25;

/** Documented operations do not tell the day of the closing, only that of the last change, which is not before it. */
const describeClosed = ({ closedOn, changedOn }: DocumentState): string => {
  if (typeof closedOn === "string") return `document closed on ${closedOn}`;
  return typeof changedOn === "string" ? `document closed by ${changedOn}` : "document closed";
};

/** Scores a dispute from 0 to 100 and says for what. */
export const judge = (
  candidate: Candidate,
  { documentOf, claims, rankOf, inactive, deadlines }: Evidence,
): Judgement => {
  const { documentNumber, assigneeId, ageDays, daysSinceUpdate, currencyCode } = candidate;
  const other = claims.findOther(candidate);
  const isInactive = assigneeId !== null && inactive.has(assigneeId);
  const document = documentOf(documentNumber);
  const daysLeft = deadlines.daysLeft(candidate);
  const flags: Flags = {
    documentClosed: document.status === "closed",
    duplicate: other !== undefined,
    unassigned: assigneeId === null || isInactive,
    stale: daysSinceUpdate >= STALE_DAYS,
    due: isDue(daysLeft),
  };
  const age = Math.min(POINTS.mostAge, Math.floor(ageDays / DAYS_PER_AGE_POINT));
  const rank = rankOf(candidate);
  const isLarge = rank.percent <= LARGE_PERCENT;
  const parts: [isReason: boolean, points: number, why: string][] = [
    [flags.due, POINTS.due, describeDue(daysLeft ?? 0)],
    [flags.documentClosed, POINTS.documentClosed, describeClosed(document)],
    [
      flags.duplicate,
      POINTS.duplicate,
      other === undefined ? "" : describeDuplicate(compareDuplicates(candidate, other)),
    ],
    [flags.unassigned, POINTS.unassigned, isInactive ? "assignee not active" : "no assignee"],
    [flags.stale, POINTS.stale, `no activity for ${daysSinceUpdate} days`],
    [ageDays >= OLD_DAYS, 0, `${ageDays} days old`],
    [isLarge, 0, `largest ${rank.percent} % in ${currencyCode}`],
  ];
  // Age and amount count by degrees, and are reasons only where they stand out.
  const reasons = parts.filter(([isReason]) => isReason);
  const score = reasons.reduce((sum, [, points]) => sum + points, age + rank.points);
  return {
    score: Math.min(POINTS.most, score),
    why: reasons.map(([, , why]) => why),
    flags,
    daysLeft,
  };
};
