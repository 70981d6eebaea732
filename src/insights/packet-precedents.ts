import { contract } from "../contract/index.ts";
import {
  type Alike,
  type Cases,
  compareLikeness,
  type Precedents,
  startOfPrecedents,
  summarizePrecedents,
} from "../contract/insights/precedents.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import type { Fields, InsightContext } from "./insight.ts";
import { attemptPart, type Part, readPart, toUnavailable } from "./read-part.ts";

const { assignees, disputes } = contract;

const [CLOSED, CANCELED] = [1, 2] as const;
const MOST_READ = 1000;

/** Ended disputes of one account or all, newest closing first, as far as one page reaches. */
const readEnded = async (
  context: InsightContext,
  filter: { AccountNumber?: string },
  reasonName: string,
) => {
  const reply = await context.call(disputes.list, {
    ...filter,
    ReasonName: reasonName,
    Status: [CLOSED, CANCELED],
    Sort: "-ClosedDate",
    Page: 1,
    PageSize: MOST_READ,
  });
  const total = reply.total ?? reply.output.length;
  // A platform that does not divide its lists into pages gives all.
  const rows = reply.output.slice(0, MOST_READ);
  return { rows, isWhole: total <= rows.length };
};

/** Returns the e-mail address of each active assignee, or why none is proposed. */
const readActiveAssignees = async (context: InsightContext) => {
  const part = await readPart(context, assignees.list, {});
  const all = part.refused === undefined ? part.value : [];
  return {
    emails: new Map(
      all
        .filter(({ active }) => active)
        .map(({ assigneeId, person }) => [assigneeId, person.email]),
    ),
    notes: part.refused === undefined ? [] : [`proposal: no assignee. ${part.refused.reason}`],
  };
};

const toAlike = ({ calendar }: InsightContext, one: Dispute): Alike => ({
  disputeCode: one.disputeCode,
  accountNumber: one.accountNumber,
  amount: one.amount,
  currencyCode: one.currencyCode,
  resolutionCode: one.resolutionCode,
  isValid: one.isValid,
  daysToClose: calendar.countElapsedDays(
    Date.parse(one.createDate),
    Date.parse(one.closedDate ?? ""),
  ),
});

/** Counts cases one by one, on platforms that only list disputes. */
const countCases = (
  context: InsightContext,
  dispute: Dispute,
  cases: readonly Dispute[],
  emails: ReadonlyMap<string, string>,
) => {
  const isOfAccount = ({ accountNumber }: Dispute) => accountNumber === dispute.accountNumber;
  const closed = cases.filter(({ status }) => status === CLOSED);
  return {
    endings: cases.map((one) => ({
      isOfAccount: isOfAccount(one),
      isCanceled: one.status === CANCELED,
      isValid: one.isValid,
      resolutionCode: one.resolutionCode,
      days: toAlike(context, one).daysToClose,
      count: 1,
      amount: one.currencyCode === dispute.currencyCode ? one.amount : 0,
    })),
    closers: closed
      .filter(({ departmentId }) => departmentId !== null && departmentId === dispute.departmentId)
      .map(({ assigneeId }) => ({ email: emails.get(assigneeId ?? "") ?? null, count: 1 })),
    alike: cases.map((one) => toAlike(context, one)).toSorted(compareLikeness(dispute)),
  };
};

const readCases = async (context: InsightContext, dispute: Dispute) => {
  const since = startOfPrecedents(context.calendar, context.now());
  const from = context.calendar.startOf(since);
  const [own, all, active] = await Promise.all([
    readEnded(context, { AccountNumber: dispute.accountNumber }, dispute.reasonName),
    readEnded(context, {}, dispute.reasonName),
    readActiveAssignees(context),
  ]);
  const isCase = ({ reasonId, closedDate, disputeId }: Dispute): boolean =>
    reasonId === dispute.reasonId &&
    disputeId !== dispute.disputeId &&
    closedDate !== null &&
    Date.parse(closedDate) >= from;
  const found = new Map([...own.rows, ...all.rows].map((one) => [one.disputeId, one]));
  const cases = [...found.values()].filter(isCase);
  const oldest = Math.min(...all.rows.map(({ closedDate }) => Date.parse(closedDate ?? "")));
  const isWhole = all.isWhole || oldest < from;
  return {
    precedents: summarizePrecedents({
      since,
      ...countCases(context, dispute, cases, active.emails),
    }),
    notes: isWhole
      ? active.notes
      : [...active.notes, `precedents: only the newest ${MOST_READ} ended disputes were read`],
  };
};

/** The outcomes of earlier disputes with the reason of a dispute, and their limits. */
export type PrecedentsPart = Part<Precedents> & { notes?: readonly string[] };

/** Reads the precedents of a dispute: in one call where the platform offers it, otherwise from lists of disputes. */
export const readPrecedents = async (
  context: InsightContext,
  dispute: Dispute,
): Promise<PrecedentsPart> => {
  const { disputeId } = dispute;
  if (context.extensions.has(disputes.precedents.id)) {
    return readPart(context, disputes.precedents, { disputeId });
  }
  const part = await attemptPart(context, disputes.list, () => readCases(context, dispute));
  if (part.refused !== undefined) return part;
  return { value: part.value.precedents, notes: part.value.notes };
};

const RESOLUTIONS = 5;

const showCases = ({ cases, ...figures }: Cases): Fields =>
  cases === 0
    ? { cases }
    : { cases, ...figures, resolutions: figures.resolutions.slice(0, RESOLUTIONS) };

/** Says how many resolutions of precedents are not shown. */
export const describePrecedents = (part: PrecedentsPart): string[] => {
  if (part.refused !== undefined) return [];
  const most = Math.max(
    part.value.account.resolutions.length,
    part.value.tenant.resolutions.length,
  );
  return most <= RESOLUTIONS
    ? []
    : [`precedents: the ${RESOLUTIONS} most frequent of ${most} resolutions are shown`];
};

/** Shows precedents, and what they propose for a dispute that is still open. */
export const showPrecedents = (dispute: Dispute, part: PrecedentsPart): Fields => {
  if (part.refused !== undefined) return { precedents: toUnavailable(part.refused) };
  const { since, account, tenant, alike, proposal } = part.value;
  const isProposed = dispute.status === 0 && Object.keys(proposal).length > 0;
  return {
    precedents: { since, account: showCases(account), tenant: showCases(tenant), alike },
    ...(isProposed ? { proposal } : {}),
  };
};
