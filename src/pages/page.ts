/**
 * The shell of every page that this server shows to a person: sign-in, consent, connected programs, and whatever else
 * must not pass through a model. A page is `page({ title, body })`; its body is made with `html`, which escapes, out of
 * the classes below: `.lead`, `.facts` (a `dl`), `.field` (label and input), `.choices`, `.list`, `.actions` (buttons
 * `.primary`, `.quiet`, `.danger`), `.alert` and `.note`. There is no script, no picture and nothing from elsewhere, so that the policy of
 * content allows the one style sheet and nothing else.
 */
import { createHash } from "node:crypto";
import { type Html, html } from "./html.ts";
import { STYLE } from "./style.ts";

export type Page = {
  title: string;
  body: Html;
  status?: number;
  /** Set where a form's answer leads to an address that is not ours. */
  leavesForm?: boolean;
  headers?: Record<string, string>;
};

const styleHash = createHash("sha256").update(STYLE).digest("base64");

const policyOf = (leavesForm: boolean): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // Browsers hold it against each redirect that follows a form, of which the last ones are not ours to know.
    ...(leavesForm ? [] : ["form-action 'self'"]),
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

// As it is hashed: not a space more.
const STYLE_SHEET: Html = { html: `<style>${STYLE}</style>` };

const documentOf = ({ title, body }: Page): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title} · Receivables</title>
        ${STYLE_SHEET}
      </head>
      <body>
        <main class="card">
          <p class="brand">${MARK}<span>Receivables</span></p>
          ${body}
        </main>
      </body>
    </html> `.html;

/** A page as it is sent: never stored, never framed. */
export const page = (
  shown: Page,
): { status: number; headers: Record<string, string>; body: string } => ({
  status: shown.status ?? 200,
  headers: {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": policyOf(shown.leavesForm === true),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    // A form's own answer needs to know where it came from; nobody else is told.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    ...shown.headers,
  },
  body: documentOf(shown),
});

export type Sent = ReturnType<typeof page>;
