/** Resolves when the signal aborts. */
export const waitForAbort = (ended: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (ended.aborted) resolve();
    else ended.addEventListener("abort", () => resolve(), { once: true });
  });
