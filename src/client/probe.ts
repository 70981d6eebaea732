import { request } from "undici";
import { createDispatcher } from "./dispatcher.ts";
import type { Clock } from "../kit/clock.ts";
import { trimEndOf } from "../kit/text.ts";

/** The result of a probe: whether an address answers at all, with any status. */
export type ProbeResult =
  | {
      answers: true;
      status: number;
      /** Its clock minus this machine's, in milliseconds; undefined without a Date header. */
      aheadMs: number | undefined;
    }
  | { answers: false; why: string };

const listErrorCodes = (error: unknown): string[] => {
  if (error instanceof AggregateError) return error.errors.flatMap(listErrorCodes);
  if (!(error instanceof Error)) return [];
  return "code" in error ? [String(error.code)] : [error.name];
};

const measureClockSkew = (date: string | string[] | undefined, now: number): number | undefined => {
  const at = Date.parse(String(date));
  return Number.isNaN(at) ? undefined : at - now;
};

/** Requests one path of an address without a credential and without following redirects. */
export const probe = async (
  baseUrl: string,
  {
    clock,
    timeoutMs,
    headers = {},
  }: { clock: Clock; timeoutMs: number; headers?: Record<string, string> },
  path: "/health" | "/ready" = "/health",
): Promise<ProbeResult> => {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const dispatcher = createDispatcher({});
    const url = `${trimEndOf(baseUrl, "/")}${path}`;
    const answer = await request(url, { signal, headers, dispatcher });
    await answer.body.dump();
    await dispatcher.close();
    const aheadMs = measureClockSkew(answer.headers["date"], clock());
    return { answers: true, status: answer.statusCode, aheadMs };
  } catch (error) {
    return { answers: false, why: [...new Set(listErrorCodes(error))].join(", ") || String(error) };
  }
};
