/**
 * The layout of all pages for people: sign-in, consent, connected programs, secrets. Bodies use the classes of style.ts.
 * Pages have no scripts or external resources, so the Content-Security-Policy allows style sheet and logo alone.
 */
import { hash } from "node:crypto";
import { type Html, html } from "./html.ts";
import { STYLE } from "./style.ts";

export type Page = {
  title: string;
  body: Html;
  status?: number | undefined;
  /** Whether the form's response redirects to another origin. */
  redirectsAway?: boolean;
  /** Whether a host may have opened the page in a window that it talks to after the sign-in. */
  isPopup?: boolean;
  headers?: Record<string, string> | undefined;
};

/** The name and the colors of the company that runs the server, for its pages. */
export type Brand = {
  name: string;
  /** The logo as a `data:` URI. */
  logo?: string | undefined;
};

export const OWN_BRAND: Brand = { name: "Receivables" };

const styleHash = hash("sha256", STYLE, "base64");

const contentSecurityPolicy = (redirectsAway: boolean, { logo }: Brand): string =>
  [
    "default-src 'none'",
    ...(logo === undefined ? [] : ["img-src data:"]),
    `style-src 'sha256-${styleHash}'`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // Browsers apply form-action to every redirect after a form, and a client's redirects are unknown here.
    ...(redirectsAway ? [] : ["form-action 'self'"]),
  ].join("; ");

const MARK = html`<svg
  viewBox="0 0 32 32"
  width="28"
  height="28"
  aria-hidden="true"
  focusable="false"
>
  <rect width="32" height="32" rx="8" fill="currentColor" />
  <path d="M9 8h14v17l-3.5-2.2L16 25l-3.5-2.2L9 25z" fill="var(--card)" />
  <path d="M12.5 13h7M12.5 17h7" stroke="currentColor" stroke-width="2" stroke-linecap="round" />
</svg>`;

// The hash in the policy covers the exact text between the tags.
const STYLE_SHEET: Html = { html: `<style>${STYLE}</style>` };

const renderMark = ({ logo }: Brand): Html =>
  logo === undefined ? MARK : html`<img src="${logo}" alt="" height="28" />`;

/** Renders the head of a page that search engines leave out; `more` follows the title. */
export const renderHead = (title: string, more?: Html): Html =>
  html`<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="robots" content="noindex" />
    <title>${title}</title>
    ${more}
  </head>`;

const renderDocument = ({ title, body }: Page, brand: Brand): string =>
  html`<!doctype html>
    <html lang="en">
      ${renderHead(`${title} · ${brand.name}`, STYLE_SHEET)}
      <body>
        <main class="card">
          <p class="brand">${renderMark(brand)}<span>${brand.name}</span></p>
          ${body}
        </main>
      </body>
    </html> `.html;

/** Renders a page with headers that forbid storing and framing it. */
export const renderPage = (
  content: Page,
  brand: Brand = OWN_BRAND,
): { status: number; headers: Record<string, string>; body: string } => ({
  status: content.status ?? 200,
  headers: {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": contentSecurityPolicy(content.redirectsAway === true, brand),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    // Forms check that they were sent from this origin; other origins get no referrer.
    "Referrer-Policy": "same-origin",
    // The page that the sign-in leads to reports to its opener, which another policy would cut off for good.
    "Cross-Origin-Opener-Policy": content.isPopup === true ? "unsafe-none" : "same-origin",
    "Cache-Control": "no-store",
    ...content.headers,
  },
  body: renderDocument(content, brand),
});

/** Creates the response of a page whose address is a secret, so that it must not leave in a Referer header. */
export const createPageResponse = (page: Page, brand?: Brand): Response => {
  const headers = { ...page.headers, "Referrer-Policy": "no-referrer" };
  const { body, ...init } = renderPage({ ...page, headers }, brand);
  return new Response(body, init);
};
