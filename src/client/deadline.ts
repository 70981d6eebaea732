import { TransportFault } from "./fault.ts";

// A moment later: what heeds the signal has ended by then.
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const end = () => setImmediate(reject, new Error("aborted"));
    signal.addEventListener("abort", end, { once: true });
  });

/** What ended a signal, where it was one of ours; anything else is a caller who no longer wants the answer. */
export const endOf = (signal: AbortSignal): TransportFault =>
  signal.reason instanceof TransportFault ? signal.reason : new TransportFault("canceled");

/**
 * Acts under a signal that ends after `ms` or with the caller's own, and says which of the two it was. It ends then even
 * if what it waits for does not heed the signal; nothing begins under one that has ended.
 */
export const withDeadline = async <T>(
  ms: number,
  outer: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  if (outer?.aborted === true) throw endOf(outer);
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort(new TransportFault("timeout"));
  }, ms);
  const signal = outer === undefined ? late.signal : AbortSignal.any([outer, late.signal]);
  try {
    return await Promise.race([act(signal), aborted(signal)]);
  } catch (error) {
    throw signal.aborted ? endOf(signal) : error;
  } finally {
    clearTimeout(timer);
  }
};
