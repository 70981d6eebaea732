import { createErrorResponse } from "./error-response.ts";
import { onResponseEnd } from "./response-end.ts";

/** Concurrent requests whose body is read, that are answered, and that are answered for one caller. */
export type ConcurrencyLimits = { reading: number; answering: number; perCaller: number };

export const CONCURRENCY_LIMITS: ConcurrencyLimits = {
  reading: 256,
  answering: 256,
  perCaller: 64,
};

/** The caller's id, and the number of requests in the body: a batch has several. */
export type Asked = { caller: string; work: number };

export type ConcurrencyLimiter = {
  /** Reads a request, or returns the response that refuses it. */
  read<T>(act: () => Promise<T>): Promise<T | Response>;
  /** Answers a request, or refuses it. The request counts until its response is sent. */
  answer(asked: Asked, act: () => Promise<Response>): Promise<Response>;
  /** Refuses new requests; resolves after the last request in progress. */
  close(): Promise<void>;
};

const RETRY = { "Retry-After": "1" };

const full = (): Response =>
  createErrorResponse(
    503,
    { code: -32_000, message: "The server has too much to do at once; try again in a second." },
    RETRY,
  );

const tooMany = (most: number): Response =>
  createErrorResponse(
    429,
    { code: -32_000, message: `At most ${most} requests of one caller are answered at once.` },
    RETRY,
  );

const stopping = (): Response =>
  createErrorResponse(
    503,
    { code: -32_000, message: "The server is being stopped; try again in a moment." },
    { ...RETRY, Connection: "close" },
  );

/** Counts the requests in progress, in total and per caller. */
const createTally = () => {
  const callers = new Map<string, number>();
  let all = 0;
  let emptied: (() => void) | undefined;
  return {
    all: () => all,
    of: (caller: string): number => callers.get(caller) ?? 0,
    enter({ caller, work }: Asked): void {
      all += work;
      callers.set(caller, (callers.get(caller) ?? 0) + work);
    },
    leave({ caller, work }: Asked): void {
      all -= work;
      const left = (callers.get(caller) ?? work) - work;
      if (left === 0) callers.delete(caller);
      else callers.set(caller, left);
      if (all === 0) emptied?.();
    },
    empty: (): Promise<void> =>
      all === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            emptied = resolve;
          }),
  };
};

export const createConcurrencyLimiter = (
  limits: ConcurrencyLimits = CONCURRENCY_LIMITS,
): ConcurrencyLimiter => {
  const tally = createTally();
  let [reading, closed] = [0, false];

  const refusalOf = ({ caller, work }: Asked): Response | undefined => {
    if (closed) return stopping();
    if (tally.of(caller) + work > limits.perCaller) return tooMany(limits.perCaller);
    return tally.all() + work > limits.answering ? full() : undefined;
  };

  return {
    async read(act) {
      if (closed) return stopping();
      if (reading >= limits.reading) return full();
      reading += 1;
      try {
        return await act();
      } finally {
        reading -= 1;
      }
    },
    async answer(asked, act) {
      const refusal = refusalOf(asked);
      if (refusal !== undefined) return refusal;
      tally.enter(asked);
      const leave = (): void => {
        tally.leave(asked);
      };
      try {
        return onResponseEnd(await act(), leave);
      } catch (error) {
        leave();
        throw error;
      }
    },
    close() {
      closed = true;
      return tally.empty();
    },
  };
};
