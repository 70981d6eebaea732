import { z } from "zod";
import { omitUndefined } from "../../kit/json.ts";
import { findAgreement } from "./agreement.ts";
import type { Calendar } from "./calendar.ts";

/** The months before now within which a dispute that ended is a precedent. */
export const PRECEDENT_MONTHS = 24;

/** The cases most alike that are shown. */
export const MOST_ALIKE = 3;

const Resolution = z.object({
  resolutionCode: z.string().nullable().meta({ description: "null: ended without one" }),
  count: z.int(),
  amountShare: z
    .number()
    .nullable()
    .meta({ description: "of the amount of all cases in the dispute's currency, from 0 to 1" }),
});

const Cases = z.object({
  cases: z.int().meta({ description: "disputes that ended" }),
  canceled: z.int().meta({ description: "of these, canceled ones" }),
  valid: z.int().meta({ description: "of these, claims that were justified" }),
  medianDaysToClose: z
    .number()
    .nullable()
    .meta({ description: "days from the creation to the end; null without cases" }),
  resolutions: z.array(Resolution).meta({ description: "the most frequent first" }),
});
export type Cases = z.infer<typeof Cases>;

const Alike = z.object({
  disputeCode: z.string(),
  accountNumber: z.string(),
  amount: z.number(),
  currencyCode: z.string(),
  resolutionCode: z.string().nullable().meta({ description: "null: ended without one" }),
  isValid: z.boolean(),
  daysToClose: z.int().meta({ description: "days from the creation to the end" }),
});
export type Alike = z.infer<typeof Alike>;

const proposed = <V extends z.ZodType>(value: V) =>
  z
    .object({
      value,
      cases: z.int().meta({ description: "closed cases that agree" }),
      of: z.int().meta({ description: "all closed cases that count" }),
    })
    .optional();

/** The values that closed cases agree on; a value that too few cases agree on is absent. */
const Proposal = z.object({
  resolutionCode: proposed(z.string()),
  isValid: proposed(z.boolean()),
  assigneeEmail: proposed(z.string()).meta({
    description: "who closed most of them in the dispute's department",
  }),
});
type Proposal = z.infer<typeof Proposal>;

/** The outcomes of disputes with the reason of one dispute. */
export const Precedents = z.object({
  since: z.string().meta({ description: "first day of closing" }),
  account: Cases.meta({ description: "of the same account" }),
  tenant: Cases.meta({ description: "of all accounts" }),
  alike: z
    .array(Alike)
    .meta({ description: "of the same account first, then of the nearest amount" }),
  proposal: Proposal.meta({ description: "what at least 5 cases and 60 % of them agree on" }),
});
export type Precedents = z.infer<typeof Precedents>;

/**
 * Disputes that ended alike after the same number of days. `amount` is their sum in the dispute's currency, as a number.
 */
export type Ending = {
  isOfAccount: boolean;
  isCanceled: boolean;
  isValid: boolean;
  resolutionCode: string | null;
  days: number;
  count: number;
  amount: number;
};

/** Cases that one active assignee of the dispute's department closed; null for all other cases of the department. */
export type Closer = { email: string | null; count: number };

/** Returns the first day whose closings are precedents. */
export const startOfPrecedents = (calendar: Calendar, now: number): string => {
  const [year = 0, month = 1, day = 1] = calendar.formatDay(now).split("-").map(Number);
  const first = new Date(Date.UTC(year, month - 1 - PRECEDENT_MONTHS, 1));
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  first.setUTCDate(Math.min(day, days));
  return first.toISOString().slice(0, "2026-01-31".length);
};

const addUp = <T>(rows: readonly T[], figure: (row: T) => number): number =>
  rows.reduce((sum, row) => sum + figure(row), 0);

const addUpBy = <T extends { count: number }, K extends keyof T>(
  rows: readonly T[],
  key: K,
  figure: (row: T) => number = ({ count }) => count,
): Map<T[K], number> =>
  new Map(
    [...Map.groupBy(rows, (row) => row[key])].map(([value, same]) => [value, addUp(same, figure)]),
  );

/** Returns the median of days; of an even number of cases, the mean of the two in the middle. */
const findMedian = (endings: readonly Ending[]): number | null => {
  const total = addUp(endings, ({ count }) => count);
  if (total === 0) return null;
  const ordered = endings.toSorted((a, b) => a.days - b.days);
  const at = (place: number): number => {
    let passed = 0;
    for (const { days, count } of ordered) {
      passed += count;
      if (passed > place) return days;
    }
    return 0;
  };
  return (at(Math.floor((total - 1) / 2)) + at(Math.floor(total / 2))) / 2;
};

const SHARE_DIGITS = 1000;

const summarizeCases = (endings: readonly Ending[]): Cases => {
  const counts = addUpBy(endings, "resolutionCode");
  const amounts = addUpBy(endings, "resolutionCode", ({ amount }) => amount);
  const total = addUp(endings, ({ amount }) => amount);
  const shareOf = (code: string | null): number | null =>
    total === 0
      ? null
      : Math.round(((amounts.get(code) ?? 0) / total) * SHARE_DIGITS) / SHARE_DIGITS;
  const where = (holds: (ending: Ending) => boolean): number =>
    addUp(endings.filter(holds), ({ count }) => count);
  return {
    cases: where(() => true),
    canceled: where(({ isCanceled }) => isCanceled),
    valid: where(({ isValid }) => isValid),
    medianDaysToClose: findMedian(endings),
    resolutions: [...counts]
      .map(([resolutionCode, count]) => ({
        resolutionCode,
        count,
        amountShare: shareOf(resolutionCode),
      }))
      .toSorted(
        (a, b) =>
          b.count - a.count || ((a.resolutionCode ?? "") < (b.resolutionCode ?? "") ? -1 : 1),
      ),
  };
};

const propose = (endings: readonly Ending[], closers: readonly Closer[]): Proposal => {
  const closed = endings.filter(({ isCanceled }) => !isCanceled);
  return omitUndefined({
    resolutionCode: findAgreement(addUpBy(closed, "resolutionCode")),
    isValid: findAgreement(addUpBy(closed, "isValid")),
    assigneeEmail: findAgreement(addUpBy(closers, "email")),
  });
};

type Target = { accountNumber: string; amount: number; currencyCode: string };

/** Compares cases by likeness to a dispute: its account, its currency, the nearest amount, the code. */
export const compareLikeness = (target: Target) => {
  const isOfAccount = ({ accountNumber }: Target) => accountNumber === target.accountNumber;
  const isOfCurrency = ({ currencyCode }: Target) => currencyCode === target.currencyCode;
  const distance = ({ amount }: Target) => Math.abs(amount - target.amount);
  return (a: Alike, b: Alike): number =>
    Number(isOfAccount(b)) - Number(isOfAccount(a)) ||
    Number(isOfCurrency(b)) - Number(isOfCurrency(a)) ||
    distance(a) - distance(b) ||
    (a.disputeCode < b.disputeCode ? -1 : 1);
};

/** Computes precedents and proposals from cases that are counted in groups. */
export const summarizePrecedents = ({
  since,
  endings,
  closers,
  alike,
}: {
  since: string;
  endings: readonly Ending[];
  closers: readonly Closer[];
  alike: readonly Alike[];
}): Precedents => ({
  since,
  account: summarizeCases(endings.filter(({ isOfAccount }) => isOfAccount)),
  tenant: summarizeCases(endings),
  alike: alike.slice(0, MOST_ALIKE),
  proposal: propose(endings, closers),
});
