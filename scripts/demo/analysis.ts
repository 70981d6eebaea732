import type { Assignee, Configuration, Dispute } from "./records.ts";

const DAY_MS = 86_400_000;

export const ageDays = (dispute: Pick<Dispute, "createDate">, now: number): number =>
  Math.floor((now - Date.parse(dispute.createDate)) / DAY_MS);

export type Total = { currencyCode: string; count: number; amount: number };

/** A sum for each currency, the most used first; currencies are never added up. */
export const totals = (disputes: readonly Dispute[]): Total[] =>
  [...Map.groupBy(disputes, ({ currencyCode }) => currencyCode)]
    .map(([currencyCode, rows]) => ({
      currencyCode,
      count: rows.length,
      // In cents, because a sum of doubles is not exact.
      amount: rows.reduce((sum, { amount }) => sum + Math.round(amount * 100), 0) / 100,
    }))
    .toSorted((one, other) => other.count - one.count);

const BUCKETS = [
  ["0-7 days", 7],
  ["8-30 days", 30],
  ["31-60 days", 60],
  ["61-90 days", 90],
  ["over 90 days", Infinity],
] as const;

export type Bucket = { bucket: string; count: number; totals: Total[] };

export const aging = (disputes: readonly Dispute[], now: number): Bucket[] =>
  BUCKETS.map(([bucket, oldest], place) => {
    const youngest = place === 0 ? -Infinity : (BUCKETS[place - 1]?.[1] ?? 0) + 1;
    const rows = disputes.filter((dispute) => {
      const age = ageDays(dispute, now);
      return age >= youngest && age <= oldest;
    });
    return { bucket, count: rows.length, totals: totals(rows) };
  });

const OLD_DAYS = 30;

/** Returns the unassigned disputes that are overdue, largest amount first. */
export const unassignedAndOld = (disputes: readonly Dispute[], now: number): Dispute[] =>
  disputes
    .filter((dispute) => dispute.assigneeId === null && ageDays(dispute, now) > OLD_DAYS)
    .toSorted((one, other) => other.amount - one.amount);

/** Returns the disputes of inactive assignees, largest amount first. */
export const heldByInactive = (
  disputes: readonly Dispute[],
  assignees: readonly Assignee[],
): Dispute[] => {
  const gone = new Set(assignees.flatMap((one) => (one.active ? [] : [one.assigneeId])));
  return disputes
    .filter(({ assigneeId }) => assigneeId !== null && gone.has(assigneeId))
    .toSorted((one, other) => other.amount - one.amount);
};

export type Pair = { kept: Dispute; again: Dispute };

/** Open claims for the same amount and reason on the same document: the first, and who came after it. */
export const duplicates = (disputes: readonly Dispute[]): Pair[] =>
  [
    ...Map.groupBy(disputes, ({ accountNumber, documentNumber, amount, reasonId }) =>
      JSON.stringify([accountNumber, documentNumber, amount, reasonId]),
    ).values(),
  ]
    .flatMap((rows) => {
      const [kept, ...later] = rows.toSorted((one, other) =>
        one.createDate.localeCompare(other.createDate),
      );
      return kept === undefined ? [] : later.map((again) => ({ kept, again }));
    })
    .toSorted((one, other) => other.kept.amount - one.kept.amount);

const isAway = ({ person }: Assignee): boolean => /\bon leave\b/i.test(person.title ?? "");

export const nameOf = ({ person }: Assignee): string => `${person.firstName} ${person.lastName}`;

/** The department that works most disputes of a category, or undefined where it has none assigned. */
const departmentFor = (dispute: Dispute, disputes: readonly Dispute[]): string | undefined => {
  const own = disputes.filter(({ categoryId }) => categoryId === dispute.categoryId);
  const counted = Map.groupBy(
    own.flatMap(({ departmentId }) => (departmentId === null ? [] : [departmentId])),
    (id) => id,
  );
  return [...counted].toSorted(([, one], [, other]) => other.length - one.length)[0]?.[0];
};

export type Move = { dispute: Dispute; to: Assignee };

/**
 * Proposes new assignees: the active person with the fewest open disputes, including those just assigned, in the
 * dispute's department, else in the department of its category.
 */
export const reassignments = (
  chosen: readonly Dispute[],
  open: readonly Dispute[],
  { assignees }: Pick<Configuration, "assignees">,
): Move[] => {
  const load = new Map(
    assignees.map(({ assigneeId }) => [
      assigneeId,
      open.filter((dispute) => dispute.assigneeId === assigneeId).length,
    ]),
  );
  return chosen.flatMap((dispute) => {
    const departmentId = dispute.departmentId ?? departmentFor(dispute, open);
    const [to] = assignees
      .filter((one) => one.active && !isAway(one) && one.departmentId === departmentId)
      .toSorted(
        (one, other) => (load.get(one.assigneeId) ?? 0) - (load.get(other.assigneeId) ?? 0),
      );
    if (to === undefined) return [];
    load.set(to.assigneeId, (load.get(to.assigneeId) ?? 0) + 1);
    return [{ dispute, to }];
  });
};
