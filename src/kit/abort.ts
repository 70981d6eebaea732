/** Resolves when the signal aborts. */
export const waitForAbort = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/**
 * Returns what the work gives, or rejects when the signal aborts, for work that does not observe the signal itself. It
 * listens no longer than that: Node keeps a combined signal in memory while something listens to it.
 */
export const untilAbort = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  const ended = Promise.withResolvers<never>();
  const end = (): void => ended.reject(new Error("aborted"));
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([work, ended.promise]);
  } finally {
    signal.removeEventListener("abort", end);
  }
};
