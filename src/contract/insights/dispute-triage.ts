/** The orders of a worklist. */
export const TRIAGE_ORDERS = ["priority", "amount", "age"] as const;
export type TriageOrder = (typeof TRIAGE_ORDERS)[number];

/** Marks of disputes that need attention. `stale`: no activity for {@link STALE_DAYS} days. */
export const TRIAGE_FLAGS = ["documentClosed", "duplicate", "unassigned", "stale"] as const;
export type TriageFlag = (typeof TRIAGE_FLAGS)[number];

export const STALE_DAYS = 10;
