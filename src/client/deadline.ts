import { TransportFault } from "./fault.ts";

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const end = () => {
      reject(new Error("aborted"));
    };
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
  });

/**
 * Runs one exchange under a signal that ends after `ms` or with the caller's own, and says which of the two it was.
 * It ends then even if the exchange does not heed its signal.
 */
export const withDeadline = async <T>(
  ms: number,
  outer: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort();
  }, ms);
  const signal = outer === undefined ? late.signal : AbortSignal.any([outer, late.signal]);
  try {
    return await Promise.race([act(signal), aborted(signal)]);
  } catch (error) {
    if (outer?.aborted === true) throw new TransportFault("canceled", error);
    if (late.signal.aborted) throw new TransportFault("timeout", error);
    throw error;
  } finally {
    clearTimeout(timer);
  }
};
