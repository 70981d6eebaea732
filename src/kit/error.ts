/** Returns the message of a thrown value. */
export const getMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Returns the code that Node.js or a library gave an error, such as `ENOENT`; undefined if it has none. */
export const getCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && error.code !== undefined
    ? String(error.code)
    : undefined;
