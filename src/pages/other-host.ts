/** The refusal of requests that call the server by a name that it does not have. */
import { html } from "./html.ts";
import type { Page } from "./page.ts";

/** Says which name is refused, and the remedy, for a program or a person. */
export const describeOtherHost = (host: string | null | undefined): string =>
  `Invalid Host: ${host?.slice(0, 200) || "it is missing"}. RECEIVABLES_HTTP_HOSTS adds names that are accepted.`;

/** The same as a page. */
export const otherHostPage = (host: string | null | undefined): Page => ({
  status: 403,
  title: "Not allowed under this name",
  body: html`<h1>Not allowed under this name</h1>
    <p class="lead">${describeOtherHost(host)}</p>`,
});

/** Whether a browser opens an address for a person: programs name other types, or event streams too. */
export const asksForPage = (
  method: string | undefined,
  accept: string | null | undefined,
): boolean =>
  (method === "GET" || method === "HEAD") &&
  /\btext\/html\b/i.test(accept ?? "") &&
  !/event-stream/i.test(accept ?? "");
