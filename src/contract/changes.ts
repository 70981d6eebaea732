/** The key under which the platform announces that a run of a schedule has ended (kit/changes.ts). */
export const runsKey = (scheduleId: string): string => `export-runs ${scheduleId}`;
