import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { LRUCache } from "lru-cache";
import { type Clock, MINUTE, SECOND } from "../kit/clock.ts";
import { getMessage } from "../kit/error.ts";
import { resolvePublic, type HostNeeds, createPinnedLookup } from "../kit/network.ts";
import { findProxy, getProxies } from "../kit/proxy.ts";
import { connectThrough } from "../kit/tunnel.ts";
import { readAtMost } from "../kit/read-at-most.ts";

const REQUEST_TIMEOUT_MS = 5 * SECOND;
const MAX_BYTES = 32 * 1024;
const FIRST_UNPRIVILEGED_PORT = 1024;

/** Fetches a client's metadata document, as `fetch` does. */
export type FetchDocument = (url: string | URL) => Promise<Response>;

export type DocumentNeeds = {
  /** Resolves and restricts the hosts of documents. */
  hosts: HostNeeds;
  /** An additional certificate authority, as PEM. */
  ca?: string;
  requestMs?: number;
};

const checkUrl = (url: URL): void => {
  const port = Number(url.port);
  if (url.protocol !== "https:") throw new Error("a client's document must have an https URL");
  if (url.username + url.password !== "")
    throw new Error("a client's URL must not contain a user name");
  if (url.port !== "" && port < FIRST_UNPRIVILEGED_PORT) {
    throw new Error(
      `a client's document must have port 443, or one from ${FIRST_UNPRIVILEGED_PORT}`,
    );
  }
};

const toHeaders = ({ headers }: IncomingMessage): Headers => {
  const copy = new Headers();
  for (const name of ["content-type", "cache-control", "expires"]) {
    const value = headers[name];
    if (typeof value === "string") copy.set(name, value);
  }
  return copy;
};

/**
 * Creates a fetch for documents at public addresses. It checks each address of the host, connects to a checked one,
 * follows no redirect, and limits size and time.
 */
export const createFetchDocument =
  ({ hosts, ca, requestMs = REQUEST_TIMEOUT_MS }: DocumentNeeds): FetchDocument =>
  async (input) => {
    const url = new URL(input);
    checkUrl(url);
    const signal = AbortSignal.timeout(requestMs);
    const addresses = await Promise.race([
      resolvePublic(url.hostname, hosts),
      once(signal, "abort").then(() =>
        Promise.reject(new Error("a client's host was not found in time")),
      ),
    ]);
    const proxy = addresses.some((address) => hosts.allowed.includes(address))
      ? undefined
      : findProxy(getProxies(), url);
    const trusted = ca === undefined ? {} : { ca };
    const tunnel = proxy && (await connectThrough(proxy, url, addresses, { signal, ...trusted }));
    const outgoing = request(url, {
      headers: { accept: "application/json" },
      // The address of a pooled connection was not checked.
      ...(tunnel === undefined ? { agent: false } : { createConnection: () => tunnel }),
      lookup: createPinnedLookup(addresses),
      minVersion: "TLSv1.2",
      signal,
      ...trusted,
    });
    // Errors after the response has started reject the read of its body.
    outgoing.on("error", () => {});
    try {
      outgoing.end();
      const [response] = (await once(outgoing, "response")) as [IncomingMessage];
      const body = await readAtMost(response, MAX_BYTES);
      if (body === undefined) {
        throw new Error(`a client's document has more than ${MAX_BYTES} bytes`);
      }
      return new Response(body, {
        status: response.statusCode ?? 502,
        headers: toHeaders(response),
      });
    } finally {
      outgoing.destroy();
    }
  };

const FAILURE_MS = MINUTE;
const WINDOW_MS = MINUTE;
const MAX_PER_HOST = 20;
const MAX_TOTAL = 200;
const MAX_CONCURRENT = 32;
const MAX_ENTRIES = 1000;

/**
 * Limits a fetch: 20 documents per host and minute, 200 per minute in all, 32 at the same time. A document that could
 * not be fetched is not requested again for a minute.
 */
export const createBoundedFetch = (fetchDocument: FetchDocument, now: Clock): FetchDocument => {
  const options = { max: MAX_ENTRIES, ttlResolution: 0, perf: { now } };
  const failures = new LRUCache<string, string>({ ...options, ttl: FAILURE_MS });
  const counts = new LRUCache<string, { count: number }>({ ...options, ttl: WINDOW_MS });
  let pending = 0;

  const count = (key: string, max: number): void => {
    const window = counts.get(key) ?? { count: 0 };
    if (window.count >= max) throw new Error("too many documents of clients were requested");
    if (window.count === 0) counts.set(key, window);
    window.count += 1;
  };

  const fetchOnce = async (url: URL): Promise<Response> => {
    if (pending >= MAX_CONCURRENT)
      throw new Error("too many documents of clients are being fetched");
    count(`host ${url.hostname.replace(/\.$/, "")}`, MAX_PER_HOST);
    count("all", MAX_TOTAL);
    pending += 1;
    try {
      const response = await fetchDocument(url);
      if (response.status !== 200) failures.set(url.href, `its host answered ${response.status}`);
      return response;
    } catch (error) {
      failures.set(url.href, getMessage(error));
      throw error;
    } finally {
      pending -= 1;
    }
  };

  return async (input) => {
    const url = new URL(input);
    const failure = failures.get(url.href);
    if (failure !== undefined)
      throw new Error(`a client's document could not be fetched: ${failure}`);
    return fetchOnce(url);
  };
};
