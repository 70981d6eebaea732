import { once } from "node:events";
import { type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { Socket } from "node:net";
import { SECOND } from "../../kit/clock.ts";
import { BlockedAddress, type HostNeeds, pinnedTo } from "../../kit/network.ts";
import { addressesOf } from "./callback.ts";

/** What a receiver is sent; the body's bytes are those that were signed. */
export type Message = { url: URL; headers: Record<string, string>; body: Buffer };

/** How it went: no error means that the receiver has it. */
export type Outcome = { httpStatus: number | null; error: string | null };

export type Send = (message: Message, signal: AbortSignal) => Promise<Outcome>;

const EXCHANGE_MS = 10 * SECOND;
// A receiver's words are of no use; reading some lets it end its answer in peace.
const MOST_READ_BYTES = 4096;
const NEXT_ADDRESS_AFTER_MS = 2 * SECOND;

type Stage = "resolving" | "connecting" | "handshaking" | "talking";

const CODES: Record<Stage, string> = {
  resolving: "DNS_ERROR",
  connecting: "CONNECT_ERROR",
  handshaking: "TLS_ERROR",
  talking: "CONNECT_ERROR",
};

const readSome = async (answer: IncomingMessage): Promise<void> => {
  let read = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    read += chunk.length;
    if (read >= MOST_READ_BYTES) return;
  }
};

/** One exchange over a connection of its own, to an address that was checked; gives the answer's status. */
const post = async (
  { url, headers, body }: Message,
  addresses: readonly string[],
  signal: AbortSignal,
  at: (stage: Stage) => void,
): Promise<number> => {
  const isSecure = url.protocol === "https:";
  const options = {
    method: "POST",
    headers: { ...headers, "Content-Length": body.length },
    // A connection that is kept, or a proxy that the environment names, would not have been checked.
    agent: false,
    lookup: pinnedTo(addresses),
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    minVersion: "TLSv1.2",
    rejectUnauthorized: true,
    signal,
  } as const;
  const request = (isSecure ? requestSecure : requestPlain)(url, options);
  // Whatever goes wrong after the answer has begun is told by reading it.
  request.on("error", () => {});
  request.once("socket", (socket: Socket) => {
    socket.once("connect", () => at(isSecure ? "handshaking" : "talking"));
    socket.once("secureConnect", () => at("talking"));
  });
  try {
    request.end(body);
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    await readSome(answer);
    return answer.statusCode ?? 0;
  } finally {
    request.destroy();
  }
};

/** Rejects when the signal aborts, which not everything that takes time looks at. */
const abortion = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const refuse = (): void => reject(new Error("aborted"));
    if (signal.aborted) refuse();
    else signal.addEventListener("abort", refuse, { once: true });
  });

/**
 * Sends a message once: no redirect is followed, and all of it must be over in time. Rejects only when the caller's
 * signal aborts.
 */
export const createSend =
  (hosts: HostNeeds, exchangeMs = EXCHANGE_MS): Send =>
  async (message, signal) => {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), exchangeMs);
    const either = AbortSignal.any([deadline.signal, signal]);
    let stage: Stage = "resolving";
    const enter = (next: Stage): void => {
      stage = next;
    };
    try {
      const addresses = await Promise.race([addressesOf(message.url, hosts), abortion(either)]);
      enter("connecting");
      const httpStatus = await post(message, addresses, either, enter);
      const isDelivered = httpStatus >= 200 && httpStatus < 300;
      return { httpStatus, error: isDelivered ? null : `HTTP_${httpStatus}` };
    } catch (error) {
      if (deadline.signal.aborted) return { httpStatus: null, error: "TIMEOUT" };
      if (signal.aborted) throw error;
      const code = error instanceof BlockedAddress ? "BLOCKED_ADDRESS" : CODES[stage];
      return { httpStatus: null, error: code };
    } finally {
      clearTimeout(timer);
    }
  };
