import { request } from "undici";
import type { Clock } from "../kit/clock.ts";

/** Whether an address answers at all, whatever it says. */
export type Reached =
  | {
      answers: true;
      status: number;
      /** By how much its clock is ahead of this machine's; undefined where it does not tell the time. */
      aheadMs: number | undefined;
    }
  | { answers: false; why: string };

const codesOf = (error: unknown): string[] => {
  if (error instanceof AggregateError) return error.errors.flatMap(codesOf);
  if (!(error instanceof Error)) return [];
  return "code" in error ? [String(error.code)] : [error.name];
};

const aheadOf = (date: string | string[] | undefined, now: number): number | undefined => {
  const at = Date.parse(String(date));
  return Number.isNaN(at) ? undefined : at - now;
};

/** Asks an address for its health, without a credential and without following it anywhere. */
export const reach = async (
  baseUrl: string,
  { clock, timeoutMs }: { clock: Clock; timeoutMs: number },
): Promise<Reached> => {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await request(`${baseUrl.replace(/\/+$/, "")}/health`, { signal });
    await answer.body.dump();
    const aheadMs = aheadOf(answer.headers["date"], clock());
    return { answers: true, status: answer.statusCode, aheadMs };
  } catch (error) {
    return { answers: false, why: [...new Set(codesOf(error))].join(", ") || String(error) };
  }
};
