/** The orders of a worklist. `daysLeft`: the deadline that comes or came first, then disputes without one. */
export const TRIAGE_ORDERS = ["priority", "amount", "age", "daysLeft"] as const;
export type TriageOrder = (typeof TRIAGE_ORDERS)[number];

/**
 * Marks of disputes that need attention. `stale`: no activity for {@link STALE_DAYS} days; `due`: at most
 * {@link DUE_DAYS} days are left, where there are deadlines.
 */
export const TRIAGE_FLAGS = ["documentClosed", "duplicate", "unassigned", "stale", "due"] as const;
export type TriageFlag = (typeof TRIAGE_FLAGS)[number];

export const STALE_DAYS = 10;
export const DUE_DAYS = 7;
