import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { LRUCache } from "lru-cache";
import { type Clock, MINUTE, SECOND } from "../kit/clock.ts";
import { checkedAddresses, type HostNeeds, pinnedTo } from "../kit/network.ts";

const EXCHANGE_MS = 5 * SECOND;
const MOST_BYTES = 32 * 1024;
const FIRST_FREE_PORT = 1024;

/** Reads a URL as `fetch` does, of clients' metadata documents alone. */
export type FetchDocument = (url: string | URL) => Promise<Response>;

export type DocumentNeeds = {
  /** Where documents may lie. */
  hosts: HostNeeds;
  /** An authority to trust beside the usual ones, as PEM. */
  ca?: string;
  exchangeMs?: number;
};

const checkUrl = (url: URL): void => {
  const port = Number(url.port);
  if (url.protocol !== "https:") throw new Error("a client's document must lie at an https URL");
  if (url.username + url.password !== "") throw new Error("a client's URL must name no user");
  if (url.port !== "" && port < FIRST_FREE_PORT) {
    throw new Error(`a client's document must lie at port 443, or one from ${FIRST_FREE_PORT} on`);
  }
};

const readBounded = async (answer: IncomingMessage): Promise<Buffer<ArrayBuffer>> => {
  const chunks: Buffer[] = [];
  let read = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    read += chunk.length;
    if (read > MOST_BYTES) throw new Error(`a client's document has more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const headersOf = ({ headers }: IncomingMessage): Headers => {
  const kept = new Headers();
  for (const name of ["content-type", "cache-control", "expires"]) {
    const value = headers[name];
    if (typeof value === "string") kept.set(name, value);
  }
  return kept;
};

/**
 * Fetches a document from a public address and from no other: each address of the host is checked, the connection goes
 * to one that was checked, no redirect is followed, and size and time are bounded. Rejects with a reason otherwise.
 */
export const createFetchDocument =
  ({ hosts, ca, exchangeMs = EXCHANGE_MS }: DocumentNeeds): FetchDocument =>
  async (given) => {
    const url = new URL(given);
    checkUrl(url);
    const signal = AbortSignal.timeout(exchangeMs);
    const addresses = await Promise.race([
      checkedAddresses(url.hostname, hosts),
      once(signal, "abort").then(() =>
        Promise.reject(new Error("a client's host was not found in time")),
      ),
    ]);
    const asked = request(url, {
      headers: { accept: "application/json" },
      // A connection that is kept, or a proxy that the environment names, would not have been checked.
      agent: false,
      lookup: pinnedTo(addresses),
      minVersion: "TLSv1.2",
      signal,
      ...(ca === undefined ? {} : { ca }),
    });
    // Whatever goes wrong after the answer has begun is told by reading it.
    asked.on("error", () => {});
    try {
      asked.end();
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      const body = await readBounded(answer);
      return new Response(body, { status: answer.statusCode ?? 502, headers: headersOf(answer) });
    } finally {
      asked.destroy();
    }
  };

const FAILURE_MS = MINUTE;
const WINDOW_MS = MINUTE;
const MAX_PER_HOST = 20;
const MAX_IN_ALL = 200;
const MAX_AT_ONCE = 32;
const MAX_REMEMBERED = 1000;

/**
 * Bounds how often documents are fetched: a document that could not be had is not asked for again for a minute, a host
 * is asked 20 times a minute at most, all hosts together 200 times, and 32 documents are fetched at once.
 */
export const createBoundedFetch = (fetchDocument: FetchDocument, now: Clock): FetchDocument => {
  const options = { max: MAX_REMEMBERED, ttlResolution: 0, perf: { now } };
  const failures = new LRUCache<string, string>({ ...options, ttl: FAILURE_MS });
  const counts = new LRUCache<string, { count: number }>({ ...options, ttl: WINDOW_MS });
  let underWay = 0;

  const take = (key: string, max: number): void => {
    const window = counts.get(key) ?? { count: 0 };
    if (window.count >= max) throw new Error("too many documents of clients were asked for");
    if (window.count === 0) counts.set(key, window);
    window.count += 1;
  };

  const fetchOnce = async (url: URL): Promise<Response> => {
    if (underWay >= MAX_AT_ONCE) throw new Error("too many documents of clients are being fetched");
    take(`host ${url.hostname.replace(/\.$/, "")}`, MAX_PER_HOST);
    take("all", MAX_IN_ALL);
    underWay += 1;
    try {
      const answer = await fetchDocument(url);
      if (answer.status !== 200) failures.set(url.href, `its host answered ${answer.status}`);
      return answer;
    } catch (error) {
      failures.set(url.href, error instanceof Error ? error.message : String(error));
      throw error;
    } finally {
      underWay -= 1;
    }
  };

  return async (given) => {
    const url = new URL(given);
    const failure = failures.get(url.href);
    if (failure !== undefined) throw new Error(`a client's document could not be had: ${failure}`);
    return fetchOnce(url);
  };
};
