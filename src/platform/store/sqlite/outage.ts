// SQLite's primary result codes: busy, locked, read-only, I/O error, full, cannot open.
const OUTAGES: ReadonlySet<number> = new Set([5, 6, 8, 10, 13, 14]);

// An extended code bears the primary one in its low byte.
const PRIMARY = 0xff;

/** Whether SQLite says that the file cannot be used now. */
export const isSqliteOutage = (error: unknown): boolean =>
  error instanceof Error &&
  "errcode" in error &&
  typeof error.errcode === "number" &&
  OUTAGES.has(error.errcode & PRIMARY);
