import { readRequestBody } from "@modelcontextprotocol/server";
import type { Vault } from "../../broker/port.ts";
import { iso } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import { type Html, html } from "../../pages/html.ts";
import { type Page, page } from "../../pages/page.ts";
import { SECRETS_PATH, type SecretPage, type SecretPages } from "./secret-pages.ts";
import type { Spent } from "../calls/spent.ts";

export type SecretDeskNeeds = {
  pages: SecretPages;
  vault: Pick<Vault, "show" | "remove">;
  spent: Spent;
  /** The id of the caller whom a token lets in; undefined for a token that lets nobody in. */
  callerOf: (token: string) => Promise<string | undefined>;
  log: Log;
};

const MOST_BYTES = 4096;

const NOUNS = {
  "api-key": { title: "Your new API key", noun: "API key", right: "acts with your rights" },
  "webhook-secret": {
    title: "Your webhook secret",
    noun: "secret",
    right: "can make calls that look like the platform's",
  },
} as const;

const sent = (shown: Page): Response => {
  // The address is a key by itself: it goes nowhere from here.
  const { status, headers, body } = page({
    ...shown,
    headers: { ...shown.headers, "Referrer-Policy": "no-referrer" },
  });
  return new Response(body, { status, headers });
};

const gone = (): Response =>
  sent({
    status: 410,
    title: "Nothing here any more",
    body: html`<h1>Nothing here any more</h1>
      <p class="lead">This page was used already, or its ten minutes are over.</p>
      <p>
        If you have not seen what was on it, have your assistant delete the key or the webhook, and
        make another.
      </p>`,
  });

const facts = (rows: readonly [string, Html | string][]): Html =>
  html`<dl class="facts">
    ${rows.map(
      ([term, value]) =>
        html`<dt>${term}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;

const until = (expiresAt: number): string => `${iso(expiresAt).slice(11, 16)} UTC`;

const PROOF = html`<div class="field">
  <label for="token">Access token</label>
  <input type="password" id="token" name="token" required autocomplete="off" spellcheck="false" />
  <small
    >The one by which your assistant signs in to this server. It stands in the assistant's
    settings.</small
  >
</div>`;

const offer = ({ kind, name, expiresAt, way }: SecretPage, alert?: string): Response => {
  const { title, noun, right } = NOUNS[kind];
  return sent({
    ...(alert === undefined ? {} : { status: 403 }),
    title,
    body: html`<h1>${title}</h1>
      <p class="lead">
        Your assistant has had it made. It is shown here once, and not kept after that.
      </p>
      ${alert === undefined ? undefined : html`<p class="alert" role="alert">${alert}</p>`}
      ${facts([
        ["Name", name],
        ["Good until", until(expiresAt)],
      ])}
      <form method="post">
        ${way === "answer" ? PROOF : undefined}
        <div class="actions"><button class="primary">Show the ${noun}</button></div>
      </form>
      <p class="note">
        Whoever has this ${noun} ${right}. Go on only if you have just asked for it.
      </p>`,
  });
};

const revealed = ({ kind, name }: SecretPage, value: string): Response => {
  const { title, noun } = NOUNS[kind];
  return sent({
    title,
    body: html`<h1>${title}</h1>
      <p class="lead">Copy it now: nobody can show it to you again.</p>
      ${facts([
        ["Name", name],
        [noun === "secret" ? "Secret" : noun, html`<code>${value}</code>`],
      ])}
      <p class="note">
        Put it where it is needed, then close this page. Do not paste it into a conversation with an
        assistant.
      </p>`,
  });
};

const fieldIn = async (request: Request, name: string): Promise<string> => {
  const body = await readRequestBody(request, MOST_BYTES);
  return body.tooLarge ? "" : (new URLSearchParams(body.text).get(name) ?? "").trim();
};

/**
 * Shows each page's secret once. Opening the address shows a button alone, since programs that look at links for people
 * open them too; only what the button sends uses the page up.
 */
export const createSecretDesk = ({
  pages,
  vault,
  spent,
  callerOf,
  log,
}: SecretDeskNeeds): ((request: Request) => Promise<Response>) => {
  const isTheirs = async ({ way, caller }: SecretPage, request: Request): Promise<boolean> => {
    if (way === "host") return true;
    const token = await fieldIn(request, "token");
    return token !== "" && (await callerOf(token)) === caller;
  };

  const show = async (one: SecretPage, request: Request): Promise<Response> => {
    if (!(await isTheirs(one, request))) {
      log.warn("secret_page.refused", { kind: one.kind, caller: one.caller });
      return offer(one, "This is not the token by which the secret was asked for.");
    }
    if (!(await spent.claim(one.id, one.expiresAt))) return gone();
    const value = await vault.show(one.name);
    if (value === undefined) return gone();
    await vault.remove(one.name);
    log.info("secret_page.shown", { kind: one.kind, caller: one.caller });
    return revealed(one, value);
  };

  return async (request) => {
    const { pathname } = new URL(request.url);
    const one = pages.open(pathname.slice(pathname.indexOf(SECRETS_PATH) + SECRETS_PATH.length));
    if (one === undefined) return gone();
    if (request.method === "POST") return show(one, request);
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response(null, { status: 405, headers: { Allow: "GET, HEAD, POST" } });
    }
    return (await vault.show(one.name)) === undefined ? gone() : offer(one);
  };
};
