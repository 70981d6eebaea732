import { TransportFault } from "./fault.ts";

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
  const ending = new AbortController();
  const { signal } = ending;
  const ended = Promise.withResolvers<never>();
  const end = (fault: TransportFault): void => {
    ending.abort(fault);
    // One turn later, so that code that listens to the signal ends first.
    setImmediate(ended.reject, fault);
  };
  const timer = setTimeout(() => end(new TransportFault("timeout")), ms);
  // Not AbortSignal.any, which takes as long as the rest of a short call's client.
  const cancel = ({ target }: Event): void => end(getAbortReason(target as AbortSignal));
  outer?.addEventListener("abort", cancel, { once: true });
  try {
    return await Promise.race([act(signal), ended.promise]);
  } catch (error) {
    throw signal.aborted ? getAbortReason(signal) : error;
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", cancel);
  }
};
