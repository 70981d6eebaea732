/** The refusal of requests that call the server by a name that it does not have, or a path without a page. */
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

/** Says that a path is none of the server's. Its link is relative, because a proxy may have removed a prefix. */
export const noSuchPage = (path: string): Page => ({
  status: 404,
  title: "There is no such page",
  body: html`<h1>There is no such page</h1>
    <p class="lead">
      <a href="${`${"../".repeat(path.split("/").length - 2)}docs`}">The documentation</a> shows the
      addresses of this server.
    </p>`,
});

/** Whether a browser opens an address for a person: programs name other types, or event streams too. */
export const asksForPage = (
  method: string | undefined,
  accept: string | null | undefined,
): boolean =>
  (method === "GET" || method === "HEAD") &&
  /\btext\/html\b/i.test(accept ?? "") &&
  !/event-stream/i.test(accept ?? "");
