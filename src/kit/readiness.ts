import { type Clock, SECOND } from "./clock.ts";
import { toErrorFields, type Log } from "./log.ts";
import { waitAtMost } from "./wait.ts";

/** Whether one part that requests need can be used; `reason` says why not, without addresses, paths and secrets. */
export type PartState = { ok: true } | { ok: false; reason: string };

/** The state of every part that requests need. */
export type Readiness = { ok: boolean; parts: Record<string, PartState> };

/** A part is not ready. The message is public: it reaches clients without a credential. */
export class NotReady extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "NotReady";
  }
}

export type ReadinessNeeds = {
  /** Each check rejects when its part cannot be used. */
  parts: Record<string, () => Promise<void>>;
  clock: Clock;
  log: Log;
  /** Time limit of one check in milliseconds. */
  timeoutMs?: number;
};

const TIMEOUT_MS = 2 * SECOND;
/** Load balancers of several nodes ask at once: the parts are checked once a second at most. */
const CACHE_MS = SECOND;

const limitTime = async (ms: number, act: Promise<void>): Promise<void> => {
  const isDone = await waitAtMost(
    ms,
    act.then(() => true),
  );
  if (isDone === undefined) throw new NotReady(`no answer within ${ms} ms`);
};

/** Returns the first system or SQL error code in a chain of causes; messages may contain addresses and paths. */
const findErrorCode = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && typeof error.code === "string") return error.code;
  return findErrorCode(error.cause);
};

const toReason = (error: unknown): string => {
  if (error instanceof NotReady) return error.message;
  const code = findErrorCode(error);
  return code === undefined ? "failed; the log says why" : `failed with ${code}`;
};

/** Creates the function behind `/ready`: it checks all parts at once, in bounded time, and caches the result. */
export const createReadiness = ({
  parts,
  clock,
  log,
  timeoutMs = TIMEOUT_MS,
}: ReadinessNeeds): (() => Promise<Readiness>) => {
  let cached: { at: number; result: Promise<Readiness> } | undefined;
  const known = new Map<string, string>();

  // Logged when it changes, because probes ask every second.
  const logChange = (part: string, reason: string, error: unknown): void => {
    const fields = error instanceof NotReady ? { error: reason } : toErrorFields(error);
    if (known.get(part) !== reason) log.warn("ready.failed", { part, ...fields });
    known.set(part, reason);
  };

  const checkPart = async (part: string, act: () => Promise<void>): Promise<PartState> => {
    try {
      await limitTime(timeoutMs, act());
      if (known.delete(part)) log.info("ready.restored", { part });
      return { ok: true };
    } catch (error) {
      const reason = toReason(error);
      logChange(part, reason, error);
      return { ok: false, reason };
    }
  };

  const checkAll = async (): Promise<Readiness> => {
    const states = await Promise.all(
      Object.entries(parts).map(async ([part, act]) => [part, await checkPart(part, act)] as const),
    );
    return { ok: states.every(([, { ok }]) => ok), parts: Object.fromEntries(states) };
  };

  return () => {
    const now = clock();
    if (cached === undefined || Math.abs(now - cached.at) >= CACHE_MS) {
      cached = { at: now, result: checkAll() };
    }
    return cached.result;
  };
};

/** Builds the status and body of a response to `/ready`. */
export const readyAnswer = ({ ok, parts }: Readiness): { status: 200 | 503; body: object } => ({
  status: ok ? 200 : 503,
  body: { status: ok ? "ok" : "unavailable", parts },
});
