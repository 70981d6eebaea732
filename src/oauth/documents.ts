import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { SECOND } from "../kit/clock.ts";
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
