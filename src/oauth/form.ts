import type { IncomingMessage, ServerResponse } from "node:http";
import { type Clock, MINUTE } from "../kit/clock.ts";
import { readAtMost } from "../kit/read-at-most.ts";
import type { Seal } from "../kit/seal.ts";
import { html } from "../pages/html.ts";
import { type Brand, type Page, renderPage } from "../pages/page.ts";

const MAX_BYTES = 16 * 1024;
const FORM_LIFETIME_MS = 15 * MINUTE;

/** One request of a browser, and its response. */
export type Exchange = {
  incoming: IncomingMessage;
  response: ServerResponse;
  url: URL;
  /** The client's address, behind trusted proxies. */
  ip: string;
  brand: Brand | undefined;
};

export const sendPage = (
  { response, brand }: Exchange,
  page: Page,
  moreHeaders: Record<string, string> = {},
): void => {
  const { status, headers, body } = renderPage(page, brand);
  response.writeHead(status, { ...headers, ...moreHeaders }).end(body);
};

/** Proxies accept headers of a response up to a page of memory, and request lines up to two. */
const [MAX_LOCATION, MAX_ADDRESS] = [3000, 7500];

/** The addresses to which responses lead a browser by a page, because they are too long for a header. */
const shown = new WeakMap<object, string>();

/** Returns the address to which a response leads the browser. */
export const redirectionOf = (response: ServerResponse): string | undefined => {
  const location = response.getHeader("location");
  return typeof location === "string" ? location : shown.get(response);
};

/** Whether an address is one that a browser can open through a proxy. */
export const isAddressShort = (to: string): boolean => to.length <= MAX_ADDRESS;

/** Returns the page that leads to an address that is too long for a header; undefined for any other address. */
export const leadTo = (response: ServerResponse, to: string): Page | undefined => {
  if (to.length <= MAX_LOCATION) return undefined;
  shown.set(response, to);
  return {
    title: "Continue",
    isPopup: true,
    body: html`<meta http-equiv="refresh" content="0; url=${to}" />
      <h1>One moment</h1>
      <p class="lead">Your browser goes on by itself.</p>
      <p><a href="${to}">Continue</a></p>`,
  };
};

export const redirect = (exchange: Exchange, to: string): void => {
  const { response } = exchange;
  const page = leadTo(response, to);
  if (page !== undefined) return sendPage(exchange, page);
  response
    .writeHead(303, { Location: to, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" })
    .end();
};

/** Reads the fields of a submitted form of at most 16 KiB; undefined for any other body. */
export const readForm = async ({ incoming }: Exchange): Promise<URLSearchParams | undefined> => {
  const type = incoming.headers["content-type"] ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) return undefined;
  // The rest of a longer body is read and dropped after the response.
  const body = await readAtMost(incoming.iterator({ destroyOnReturn: false }), MAX_BYTES);
  return body && new URLSearchParams(body.toString("utf8"));
};

/** Creates tokens against cross-site request forgery. Each is valid for 15 minutes and for one purpose. */
export const createFormTokens = (seal: Seal, now: Clock) => ({
  issue: (purpose: string): string => seal.seal({ purpose, expiresAt: now() + FORM_LIFETIME_MS }),
  /** Whether a form has a valid token for the purpose and was not sent from another site's page. */
  isValid({ incoming }: Exchange, form: URLSearchParams | undefined, purpose: string): boolean {
    const site = incoming.headers["sec-fetch-site"];
    if (site !== undefined && site !== "same-origin" && site !== "none") return false;
    const token = seal.open(form?.get("form") ?? "") as
      | { purpose?: unknown; expiresAt?: unknown }
      | undefined;
    return token?.purpose === purpose && Number(token.expiresAt) > now();
  },
});

export type FormTokens = ReturnType<typeof createFormTokens>;
