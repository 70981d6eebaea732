/** Resolves when the signal aborts. */
export const waitForAbort = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** Rejects when the signal aborts, for work that does not observe the signal itself. */
export const rejectOnAbort = async (signal: AbortSignal): Promise<never> => {
  await waitForAbort(signal);
  throw new Error("aborted");
};
