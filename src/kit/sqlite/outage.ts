// SQLite's primary result codes: busy, locked, read-only, I/O error, full, cannot open.
const OUTAGES: ReadonlySet<number> = new Set([5, 6, 8, 10, 13, 14]);

const BUSY = 5;

// The low byte of an extended code is the primary one.
const PRIMARY = 0xff;

const getPrimaryCode = (error: unknown): number | undefined =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & PRIMARY
    : undefined;

/** Whether SQLite says that another connection is writing. */
export const isSqliteBusy = (error: unknown): boolean => getPrimaryCode(error) === BUSY;

/** Whether SQLite says that the file cannot be used now. */
export const isSqliteOutage = (error: unknown): boolean => {
  const code = getPrimaryCode(error);
  return code !== undefined && OUTAGES.has(code);
};
