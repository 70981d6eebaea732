import type { Calendar } from "../contract/insights/calendar.ts";
import { type DisputeFilters, STATUS_NUMBERS } from "../contract/insights/dispute-filters.ts";
import type { DisputeArguments } from "./read-disputes.ts";
import { fold, isPart, type NameConditions } from "./dispute-names.ts";
import type { Standing } from "./standing.ts";

type Condition = (standing: Standing) => boolean;

/** Creates the check of whether a text is one of these, in any letter case; every text is where none are given. */
const createAmong = (texts: readonly string[] | undefined): ((text: string) => boolean) => {
  if (texts === undefined) return () => true;
  const known = new Set(texts.map(fold));
  return (text) => known.has(fold(text));
};

/** Creates the check of a moment against one or two days or times, both included. */
const createWithinDays = (
  { startOf, endOf }: Calendar,
  from: string | undefined,
  to: string | undefined,
): ((at: number | null) => boolean) => {
  if (from === undefined && to === undefined) return () => true;
  const first = from === undefined ? -Infinity : startOf(from);
  const last = to === undefined ? Infinity : endOf(to);
  return (at) => at !== null && at >= first && at <= last;
};

const createTextFilter = (filters: DisputeFilters, { conditions }: NameConditions): Condition => {
  const isAccount = createAmong(filters.accountNumber);
  const isDocument = createAmong(filters.documentNumber);
  const isCode = createAmong(filters.disputeCode);
  const isCurrency = createAmong(filters.currencyCode);
  const { accountName } = filters;
  return ({ dispute }) =>
    isAccount(dispute.accountNumber) &&
    isDocument(dispute.documentNumber) &&
    isCode(dispute.disputeCode) &&
    isCurrency(dispute.currencyCode) &&
    (accountName === undefined || isPart(dispute.accountName, accountName)) &&
    conditions.every(({ holds }) => holds(dispute));
};

const createValueFilter = (filters: DisputeFilters, calendar: Calendar): Condition => {
  const { status, unassigned, olderThanDays = -Infinity } = filters;
  const { amountMin = -Infinity, amountMax = Infinity } = filters;
  const isCreated = createWithinDays(calendar, filters.createdFrom, filters.createdTo);
  const isClosed = createWithinDays(calendar, filters.closedFrom, filters.closedTo);
  const isUpdated = createWithinDays(calendar, undefined, filters.updatedBefore);
  return ({ dispute, status: own, ageDays, createdAt, closedAt }) =>
    (status === undefined || status.includes(own)) &&
    (unassigned === undefined || unassigned === (dispute.assigneeId === null)) &&
    dispute.amount >= amountMin &&
    dispute.amount <= amountMax &&
    ageDays > olderThanDays &&
    isCreated(createdAt) &&
    isClosed(closedAt) &&
    isUpdated(Date.parse(dispute.updateDate));
};

/** Returns the test of every filter but the document's status, which disputes do not tell. */
export const createFilter = (
  filters: DisputeFilters,
  names: NameConditions,
  calendar: Calendar,
): Condition => {
  const fitsTexts = createTextFilter(filters, names);
  const fitsValues = createValueFilter(filters, calendar);
  return (standing) => fitsTexts(standing) && fitsValues(standing);
};

const only = <T>(values: Iterable<T> | undefined): T | undefined => {
  const [first, ...more] = values ?? [];
  return more.length === 0 ? first : undefined;
};

/**
 * Returns the arguments of disputes.list that select at least the disputes of the filters, and on request every open
 * dispute of the same accounts and documents. Numbers are compared exactly there, so an answer without disputes proves
 * nothing if one of them was sent.
 */
export const toListArguments = (
  filters: DisputeFilters,
  names: NameConditions,
  withOpen = false,
): DisputeArguments => {
  // A dispute that is closed today can have been open then.
  const status = filters.asOf === undefined ? only(filters.status) : undefined;
  const idOf = (name: string): string | undefined =>
    only(names.conditions.find(({ filter }) => filter === name)?.ids);
  return {
    Status:
      status === undefined || (withOpen && status !== "Open")
        ? undefined
        : [STATUS_NUMBERS[status]],
    AccountNumber: only(filters.accountNumber),
    DocumentNumber: only(filters.documentNumber),
    ...(withOpen ? {} : { AssigneeId: idOf("assignee"), DepartmentId: idOf("department") }),
  };
};
