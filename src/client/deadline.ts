import { TransportFault } from "./fault.ts";

// Rejects one turn later, so that code that listens to the signal ends first.
const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const end = () => setImmediate(reject, new Error("aborted"));
    signal.addEventListener("abort", end, { once: true });
  });

/** Returns the fault that aborted a signal: our own deadline, else `canceled` by the caller. */
export const getAbortReason = (signal: AbortSignal): TransportFault =>
  signal.reason instanceof TransportFault ? signal.reason : new TransportFault("canceled");

/**
 * Runs `act` under a signal that aborts after `ms` milliseconds or with the caller's signal. It ends then even if `act`
 * ignores the signal, and does not start `act` under an aborted one.
 *
 * @throws {TransportFault} `timeout` or `canceled`
 */
export const withDeadline = async <T>(
  ms: number,
  outer: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  if (outer?.aborted === true) throw getAbortReason(outer);
  const deadline = new AbortController();
  const timer = setTimeout(() => {
    deadline.abort(new TransportFault("timeout"));
  }, ms);
  const signal = outer === undefined ? deadline.signal : AbortSignal.any([outer, deadline.signal]);
  try {
    return await Promise.race([act(signal), rejectOnAbort(signal)]);
  } catch (error) {
    throw signal.aborted ? getAbortReason(signal) : error;
  } finally {
    clearTimeout(timer);
  }
};
