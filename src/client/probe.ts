import { request } from "undici";
import { createDispatcher } from "./dispatcher.ts";
import { findProxyStatus } from "./fault.ts";
import { getCode } from "../kit/error.ts";
import type { Clock } from "../kit/clock.ts";
import { trimEndOf } from "../kit/text.ts";

/** The result of a probe: whether an address answers at all, with any status. */
export type ProbeResult =
  | {
      answers: true;
      status: number;
      /** The media type of the answer, without parameters; empty if it names none. */
      type: string;
      /** The first kilobytes of the answer. */
      body: string;
      /** The address that a redirect names; absolute. */
      location: URL | undefined;
      /** Its clock minus this machine's, in milliseconds; undefined without a Date header. */
      aheadMs: number | undefined;
    }
  | { answers: false; why: string };

export type ProbeOptions = { clock: Clock; timeoutMs: number; headers?: Record<string, string> };

const MOST_BYTES = 16 * 1024;

/** Returns the codes of an error and of its causes; its name where it has no code. */
const listErrorCodes = (error: unknown): string[] => {
  if (error instanceof AggregateError) return error.errors.flatMap(listErrorCodes);
  if (!(error instanceof Error)) return [];
  const status = findProxyStatus(error);
  if (status !== undefined) return [`PROXY_${status}`];
  const cause = error.cause instanceof Error ? listErrorCodes(error.cause) : [];
  return [getCode(error) ?? error.name, ...cause];
};

const measureClockSkew = (date: string | string[] | undefined, now: number): number | undefined => {
  const at = Date.parse(String(date));
  return Number.isNaN(at) ? undefined : at - now;
};

const readStart = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MOST_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MOST_BYTES).toString();
};

/** Requests one path of an address without a credential and without following redirects. */
export const probe = async (
  baseUrl: string,
  { clock, timeoutMs, headers = {} }: ProbeOptions,
  path = "/health",
): Promise<ProbeResult> => {
  const dispatcher = createDispatcher({});
  const url = `${trimEndOf(baseUrl, "/")}${path}`;
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await request(url, { signal, headers, dispatcher });
    const text = (name: string): string => String(answer.headers[name] ?? "");
    return {
      answers: true,
      status: answer.statusCode,
      type: (text("content-type").split(";")[0] ?? "").trim().toLowerCase(),
      body: await readStart(answer.body),
      location: (text("location") && URL.parse(text("location"), url)) || undefined,
      aheadMs: measureClockSkew(answer.headers["date"], clock()),
    };
  } catch (error) {
    return { answers: false, why: [...new Set(listErrorCodes(error))].join(", ") || String(error) };
  } finally {
    await dispatcher.destroy();
  }
};
