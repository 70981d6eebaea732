/** Calls `make` at the first use and shares its result. A failure is not cached: the next call tries again. */
export const createLazy = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let result: Promise<T> | undefined;
  return () => {
    result ??= make().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
};
