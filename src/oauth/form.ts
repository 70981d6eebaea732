import type { IncomingMessage, ServerResponse } from "node:http";
import { type Clock, MINUTE } from "../kit/clock.ts";
import type { Seal } from "../kit/seal.ts";
import type { Sent } from "../pages/page.ts";

const MOST_BYTES = 16 * 1024;
/** How long a page may stay open before its form is sent. */
const LIFE_MS = 15 * MINUTE;

/** One request of a browser. */
export type Exchange = {
  incoming: IncomingMessage;
  response: ServerResponse;
  url: URL;
  /** Where the request came from, behind proxies that are trusted. */
  ip: string;
};

export const send = ({ response }: Exchange, { status, headers, body }: Sent): void => {
  response.writeHead(status, headers).end(body);
};

export const redirect = ({ response }: Exchange, to: string): void => {
  response
    .writeHead(303, { Location: to, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" })
    .end();
};

/** What a form sent; undefined for whatever else was. */
export const readForm = async ({ incoming }: Exchange): Promise<URLSearchParams | undefined> => {
  const type = incoming.headers["content-type"] ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) return undefined;
  const chunks: Buffer[] = [];
  let read = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    read += chunk.length;
    if (read > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
};

/** Marks a form as one of ours: bound to what it is for, so that nobody else's page can send it. */
export const createFormTokens = (seal: Seal, now: Clock) => ({
  of: (purpose: string): string => seal.seal({ purpose, expiresAt: now() + LIFE_MS }),
  /** Whether this server gave out the form for the purpose less than 15 minutes ago, and no other site's page sent it. */
  holds({ incoming }: Exchange, form: URLSearchParams | undefined, purpose: string): boolean {
    const site = incoming.headers["sec-fetch-site"];
    if (site !== undefined && site !== "same-origin" && site !== "none") return false;
    const opened = seal.open(form?.get("form") ?? "") as
      | { purpose?: unknown; expiresAt?: unknown }
      | undefined;
    return opened?.purpose === purpose && Number(opened.expiresAt) > now();
  },
});

export type FormTokens = ReturnType<typeof createFormTokens>;
