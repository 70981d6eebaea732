/** The longest turn that a request may take. */
export const MOST_MS = 50;

/**
 * Measures the longest turn of the event loop by the processor time of its thread, which other load on the machine does
 * not lengthen. The loop turns without a pause meanwhile.
 */
export const measureLongestTurn = async (act: () => Promise<unknown>): Promise<number> => {
  let most = 0;
  let isDone = false;
  let before = process.threadCpuUsage();
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    most = Math.max(most, (user + system) / 1000);
  };
  const turn = (): void => {
    look();
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  await act();
  // The last turn, after which the loop does not come back here.
  look();
  isDone = true;
  return most;
};
