import { once } from "node:events";
import { type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { Socket } from "node:net";
import { untilAbort } from "../../kit/abort.ts";
import { SECOND } from "../../kit/clock.ts";
import { BlockedAddress, type HostNeeds, createPinnedLookup } from "../../kit/network.ts";
import { findProxy, getProxies } from "../../kit/proxy.ts";
import { connectThrough } from "../../kit/tunnel.ts";
import { resolveCallback } from "./callback.ts";

/** An HTTP request to a receiver; the body's bytes are the signed ones. */
export type Message = { url: URL; headers: Record<string, string>; body: Buffer };

/** The outcome of an attempt; it succeeded if there is no error. */
export type Outcome = { httpStatus: number | null; error: string | null };

export type Send = (message: Message, signal: AbortSignal) => Promise<Outcome>;

const EXCHANGE_MS = 10 * SECOND;
// The response body is not used; reading a little of it lets the receiver finish its response.
const MOST_READ_BYTES = 4096;
const NEXT_ADDRESS_AFTER_MS = 2 * SECOND;

const CODES = {
  resolving: "DNS_ERROR",
  connecting: "CONNECT_ERROR",
  handshaking: "TLS_ERROR",
  talking: "CONNECT_ERROR",
};

type Stage = keyof typeof CODES;

const readSome = async (answer: IncomingMessage): Promise<void> => {
  let read = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    read += chunk.length;
    if (read >= MOST_READ_BYTES) return;
  }
};

/** Makes one request over a new connection to a checked address; returns the status. */
const post = async (
  { url, headers, body }: Message,
  { addresses, isPublic }: { addresses: readonly string[]; isPublic: boolean },
  signal: AbortSignal,
  at: (stage: Stage) => void,
): Promise<number> => {
  const isSecure = url.protocol === "https:";
  const proxy = isPublic ? findProxy(getProxies(), url) : undefined;
  const tunnel = proxy && (await connectThrough(proxy, url, addresses, { signal }));
  if (tunnel !== undefined) at("talking");
  const options = {
    method: "POST",
    headers: { ...headers, "Content-Length": body.length },
    // A reused connection would not be to a checked address.
    ...(tunnel === undefined ? { agent: false } : { createConnection: () => tunnel }),
    lookup: createPinnedLookup(addresses),
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    minVersion: "TLSv1.2",
    rejectUnauthorized: true,
    signal,
  } as const;
  const request = (isSecure ? requestSecure : requestPlain)(url, options);
  // Errors after the response has begun are reported by reading its body.
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

/**
 * Sends a message once, without following redirects and within a time limit. Rejects only if the caller's signal
 * aborts.
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
      const addresses = await untilAbort(resolveCallback(message.url, hosts), either);
      // Networks that the operator allows are their own, where a proxy is of no use.
      const isPublic = !addresses.some((address) => hosts.allowed.includes(address));
      enter("connecting");
      const httpStatus = await post(message, { addresses, isPublic }, either, enter);
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
