/** Returns the message of a thrown value. */
export const getMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Returns the code that Node.js or a library gave an error, such as `ENOENT`; undefined if it has none. */
export const getCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && error.code !== undefined
    ? String(error.code)
    : undefined;

/** The messages of SQLite, of the operating system, which PostgreSQL repeats, and of Node.js. */
const FULL_DISK = /disk is full|no space left on device|disk quota exceeded|ENOSPC|EDQUOT/i;

/** Whether an error says that a disk has no room left. */
export const isDiskFull = (error: unknown): boolean => FULL_DISK.test(getMessage(error));
