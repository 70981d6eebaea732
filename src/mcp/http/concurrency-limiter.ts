import { createErrorResponse, onResponseEnd } from "./responses.ts";

/** Maximum numbers of concurrent requests: while their body is read, while they run, and of one caller. */
export type ConcurrencyLimits = { reading: number; running: number; perCaller: number };

const CONCURRENCY_LIMITS: ConcurrencyLimits = { reading: 256, running: 256, perCaller: 64 };

/** The caller's id, and the number of requests in the body: a batch has several. */
export type Load = { caller: string; requests: number };

export type ConcurrencyLimiter = {
  /** Runs `act`, which reads a body, or returns the response that refuses the request. */
  read<T>(act: () => Promise<T>): Promise<T | Response>;
  /** Runs `act`, or returns the response that refuses it. The load counts until the response is sent. */
  run(load: Load, act: () => Promise<Response>): Promise<Response>;
  /** Refuses new requests; resolves after the last request in progress. */
  close(): Promise<void>;
};

const RETRY_HEADER = { "Retry-After": "1" };

const serverBusy = (): Response =>
  createErrorResponse(503, "The server is busy; try again in a second.", { headers: RETRY_HEADER });

const callerBusy = (max: number): Response =>
  createErrorResponse(429, `At most ${max} requests of one caller run at once.`, {
    headers: RETRY_HEADER,
  });

const shuttingDown = (): Response =>
  createErrorResponse(503, "The server is shutting down; try again in a moment.", {
    headers: { ...RETRY_HEADER, Connection: "close" },
  });

export const createConcurrencyLimiter = (
  limits: ConcurrencyLimits = CONCURRENCY_LIMITS,
): ConcurrencyLimiter => {
  /** The running requests of each caller. */
  const callers = new Map<string, number>();
  const drained = Promise.withResolvers<void>();
  let reading = 0;
  let running = 0;
  let isClosed = false;

  const count = (caller: string, change: number): void => {
    running += change;
    const left = (callers.get(caller) ?? 0) + change;
    if (left === 0) callers.delete(caller);
    else callers.set(caller, left);
    if (isClosed && running === 0) drained.resolve();
  };

  const findRefusal = ({ caller, requests }: Load): Response | undefined => {
    if (isClosed) return shuttingDown();
    const own = callers.get(caller) ?? 0;
    if (own + requests > limits.perCaller) return callerBusy(limits.perCaller);
    return running + requests > limits.running ? serverBusy() : undefined;
  };

  return {
    async read(act) {
      if (isClosed) return shuttingDown();
      if (reading >= limits.reading) return serverBusy();
      reading += 1;
      try {
        return await act();
      } finally {
        reading -= 1;
      }
    },
    async run(load, act) {
      const refusal = findRefusal(load);
      if (refusal !== undefined) return refusal;
      count(load.caller, load.requests);
      const release = (): void => count(load.caller, -load.requests);
      try {
        return onResponseEnd(await act(), release);
      } catch (error) {
        release();
        throw error;
      }
    },
    close() {
      isClosed = true;
      if (running === 0) drained.resolve();
      return drained.promise;
    },
  };
};
