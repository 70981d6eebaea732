import { z } from "zod";
import type { Checked } from "../faults.ts";
import {
  AgeBuckets,
  chooseOrder,
  MAX_GROUPINGS,
  ordering,
  parseArguments,
  type Summary,
  wordAmong,
} from "./arguments.ts";
import { UNITS } from "./calendar.ts";
import { type DisputeFilters, disputeFilters } from "./dispute-filters.ts";
import { FAMILY_GROUPINGS, familyFilters, type FamilyFilters } from "./families.ts";
import { AccountName, ExactNumber, GroupKey, insightResult } from "./result.ts";

const DATES = ["created", "closed"] as const;

/**
 * The groupings of disputes: `closed` is the date of closing; `age` counts days since the creation, and `daysToClose` from
 * the creation to the closing, both in the ranges of `ageBuckets`.
 */
export const DISPUTE_GROUPINGS = [
  "status",
  "account",
  ...FAMILY_GROUPINGS,
  "document",
  "currency",
  "reason",
  "category",
  "department",
  "assignee",
  "resolution",
  "valid",
  "age",
  "daysToClose",
  ...DATES.flatMap((date) => UNITS.map((unit) => `${date}:${unit}` as const)),
] as const;
export type DisputeGrouping = (typeof DISPUTE_GROUPINGS)[number];

/** Whether a grouping has ranges of days as its keys. */
export const isInDays = (grouping: string | undefined): boolean =>
  grouping === "age" || grouping === "daysToClose";

export const DISPUTE_FIGURES = ["count", "amount", "avgAgeDays", "avgDaysToClose"] as const;
export type DisputeFigure = (typeof DISPUTE_FIGURES)[number];

export const DisputeSummaryBody = z.strictObject({
  ...disputeFilters,
  ...familyFilters,
  groupBy: z
    .array(wordAmong(DISPUTE_GROUPINGS), 'must be a list, such as ["reason", "created:month"]')
    .max(MAX_GROUPINGS)
    .default([])
    .meta({
      description: `up to 3 of ${DISPUTE_GROUPINGS.filter((name) => !name.includes(":")).join(", ")}, created:UNIT, closed:UNIT (${UNITS.join(", ")})`,
    }),
  ageBuckets: AgeBuckets.default([30, 60, 90]).describe(
    "last day of each group of days; default 30, 60, 90",
  ),
  ...ordering(`a grouping, ${DISPUTE_FIGURES.join(", ")} (default amount)`),
});

export type DisputeSummary = Summary<
  DisputeFilters & FamilyFilters,
  DisputeGrouping,
  DisputeFigure
>;

/** Validates the arguments of a dispute summary. */
export const parseDisputeSummary = (sent: unknown): Checked<DisputeSummary> => {
  const { value, faults } = parseArguments(DisputeSummaryBody, sent);
  if (value === undefined) return { faults };
  const { groupBy: names, ageBuckets, orderBy, order, limit, offset, ...filters } = value;
  const groupBy = [...new Set(names)] as DisputeGrouping[];
  const by = chooseOrder([...groupBy, ...DISPUTE_FIGURES], orderBy);
  if (by.faults !== undefined) return by;
  return { value: { filters, groupBy, ageBuckets, orderBy: by.value, order, limit, offset } };
};

/** Conditions and groupings of which a dispute has the present value alone. */
const PRESENT = [
  "parent",
  "parentAccountNumber",
  "accountGroup",
  "documentStatus",
  "updatedBefore",
  "unassigned",
  "assignee",
  "department",
] as const;

/** Returns the note about conditions and groupings that do not follow `asOf`. */
export const describePresent = ({
  filters,
  groupBy,
}: Pick<DisputeSummary, "filters" | "groupBy">): string[] => {
  const used = PRESENT.filter(
    (name) =>
      (name !== "parent" && filters[name] !== undefined) ||
      groupBy.some((grouping) => grouping === name),
  );
  return filters.asOf === undefined || used.length === 0
    ? []
    : [`asOf regards status, age and closing: ${used.join(" and ")} are those of now.`];
};

export const DisputeFigures = z.object({
  oldest: z.object({ disputeCode: z.string(), createDate: z.string() }).nullable(),
  avgAgeDays: z.number().nullable().meta({ description: "of open disputes" }),
  avgDaysToClose: z.number().nullable().meta({ description: "of closed disputes" }),
});

/** A group over all its currencies, which have items of their own. */
export const DisputeGroup = z.object({
  key: GroupKey,
  count: z.int(),
  avgAgeDays: DisputeFigures.shape.avgAgeDays,
  avgDaysToClose: DisputeFigures.shape.avgDaysToClose,
});
export type DisputeGroup = z.infer<typeof DisputeGroup>;

/** The figures that groups have over all currencies. */
const WHOLE_FIGURES = ["count", "avgAgeDays", "avgDaysToClose"] as const;

/** Puts groups in the order of a figure that they have; without one they stay in the order of the items. */
export const orderGroups = (
  groups: readonly DisputeGroup[],
  { orderBy, order }: Pick<DisputeSummary, "orderBy" | "order">,
): DisputeGroup[] => {
  const figure = WHOLE_FIGURES.find((name) => name === orderBy);
  if (figure === undefined) return [...groups];
  // Groups without an average are last both ways.
  const rank = (group: DisputeGroup): number =>
    order === "asc" ? (group[figure] ?? Infinity) : -(group[figure] ?? -Infinity);
  const byRank = (a: DisputeGroup, b: DisputeGroup): number => {
    const [first, second] = [rank(a), rank(b)];
    return first === second ? 0 : first - second;
  };
  return groups.toSorted(byRank);
};

/** The figures of a summary beside the common ones. */
export const DisputeSummaryFigures = z.object({
  ...DisputeFigures.shape,
  groups: z.array(DisputeGroup).optional().meta({
    description: "where there are several currencies: the groups of the items over all of them",
  }),
});

/** Whether groups are divided by currency although they are not grouped by it. */
export const hasDividedGroups = (
  { groupBy }: Pick<DisputeSummary, "groupBy">,
  currencies: number,
): boolean => groupBy.length > 0 && !groupBy.includes("currency") && currencies > 1;

export const DisputeSummaryItem = z.object({
  key: GroupKey,
  accountName: AccountName,
  currencyCode: z.string(),
  count: z.int(),
  amount: ExactNumber,
  ...DisputeFigures.shape,
});
export type DisputeSummaryItem = z.infer<typeof DisputeSummaryItem>;

export const DisputeSummaryResult = insightResult(DisputeSummaryItem, DisputeSummaryFigures.shape);
export type DisputeSummaryResult = z.infer<typeof DisputeSummaryResult>;
