const DAY = 86_400_000;
const FRIDAY = 5;

/** A month by its first and last day, and its name, such as `2026-10`. */
export type Month = { from: string; to: string; name: string };

const toDay = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Returns the month before `now`, in UTC. */
export const lastMonth = (now: Date): Month => {
  const from = toDay(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
  const to = toDay(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1) - DAY);
  return { from, to, name: from.slice(0, 7) };
};

/** Returns the day so many days before `now`, in UTC. */
export const daysBefore = (now: Date, days: number): string => toDay(now.getTime() - days * DAY);

/** Returns the last Friday before the day of `now`, in UTC. */
export const lastFriday = (now: Date): string => {
  const days = (now.getUTCDay() - FRIDAY + 7) % 7;
  return daysBefore(now, days === 0 ? 7 : days);
};
