import { DISPUTE_STATUSES, type DisputeFilters } from "../contract/insights/dispute-filters.ts";
import type { Fields } from "./insight.ts";
import { fold, isPart, type NameConditions } from "./dispute-names.ts";
import type { Standing } from "./standing.ts";

type Condition = (standing: Standing) => boolean;

const given = <T>(value: T | undefined, condition: (value: T) => Condition): Condition[] =>
  value === undefined ? [] : [condition(value)];

const among = (
  values: readonly string[] | undefined,
  read: (standing: Standing) => string,
): Condition[] =>
  given(values, (list) => {
    const known = new Set(list.map(fold));
    return (standing) => known.has(fold(read(standing)));
  });

/** Compares the UTC day of a time with one or two days, both included. */
const withinDays = (
  from: string | undefined,
  to: string | undefined,
  read: (standing: Standing) => number | null,
): Condition[] => {
  if (from === undefined && to === undefined) return [];
  const first = from === undefined ? -Infinity : Date.parse(`${from}T00:00:00.000Z`);
  const last = to === undefined ? Infinity : Date.parse(`${to}T23:59:59.999Z`);
  return [
    (standing) => {
      const at = read(standing);
      return at !== null && at >= first && at <= last;
    },
  ];
};

const listTextConditions = (filters: DisputeFilters, names: NameConditions): Condition[] => [
  ...among(filters.accountNumber, ({ dispute }) => dispute.accountNumber),
  ...among(filters.documentNumber, ({ dispute }) => dispute.documentNumber),
  ...among(filters.disputeCode, ({ dispute }) => dispute.disputeCode),
  ...among(filters.currencyCode, ({ dispute }) => dispute.currencyCode),
  ...given(
    filters.accountName,
    (part): Condition =>
      ({ dispute }) =>
        isPart(dispute.accountName, part),
  ),
  ...names.conditions.map(
    ({ holds }): Condition =>
      ({ dispute }) =>
        holds(dispute),
  ),
];

const is =
  (condition: (standing: Standing) => boolean): (() => Condition) =>
  () =>
    condition;

const listValueConditions = (filters: DisputeFilters): Condition[] => {
  const {
    status = [],
    unassigned = false,
    amountMin = 0,
    amountMax = 0,
    olderThanDays = 0,
  } = filters;
  return [
    ...given(
      filters.status,
      is((one) => status.includes(one.status)),
    ),
    ...given(
      filters.unassigned,
      is(({ dispute }) => (dispute.assigneeId === null) === unassigned),
    ),
    ...given(
      filters.amountMin,
      is(({ dispute }) => dispute.amount >= amountMin),
    ),
    ...given(
      filters.amountMax,
      is(({ dispute }) => dispute.amount <= amountMax),
    ),
    ...given(
      filters.olderThanDays,
      is(({ ageDays }) => ageDays > olderThanDays),
    ),
    ...withinDays(filters.createdFrom, filters.createdTo, ({ createdAt }) => createdAt),
    ...withinDays(filters.closedFrom, filters.closedTo, ({ closedAt }) => closedAt),
    ...withinDays(undefined, filters.updatedBefore, ({ dispute }) =>
      Date.parse(dispute.updateDate),
    ),
  ];
};

/** Returns the test of every filter but the document's status, which disputes do not tell. */
export const createFilter = (filters: DisputeFilters, names: NameConditions): Condition => {
  const conditions = [...listTextConditions(filters, names), ...listValueConditions(filters)];
  return (standing) => conditions.every((holds) => holds(standing));
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
): Fields => {
  // A dispute that is closed today can have been open then.
  const status = filters.asOf === undefined ? only(filters.status) : undefined;
  const idOf = (name: string): string | undefined =>
    only(names.conditions.find(({ filter }) => filter === name)?.ids);
  const args = {
    Status:
      status === undefined || (withOpen && status !== "Open")
        ? undefined
        : [DISPUTE_STATUSES.indexOf(status)],
    AccountNumber: only(filters.accountNumber),
    DocumentNumber: only(filters.documentNumber),
    ...(withOpen ? {} : { AssigneeId: idOf("assignee"), DepartmentId: idOf("department") }),
  };
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
};
