/** Resolves when the signal aborts. */
export const untilEnded = (ended: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (ended.aborted) resolve();
    else ended.addEventListener("abort", () => resolve(), { once: true });
  });

/** Waits for something that should end, but not for long. */
export const within = async (ms: number, act: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([act, late]).finally(() => clearTimeout(timer));
};
