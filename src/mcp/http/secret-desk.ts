import { readRequestBody } from "@modelcontextprotocol/server";
import type { Vault } from "../../broker/port.ts";
import { iso } from "../../kit/clock.ts";
import type { Log } from "../../kit/log.ts";
import { Secret } from "../../kit/secret.ts";
import { type Html, html } from "../../pages/html.ts";
import { type Page, page } from "../../pages/page.ts";
import { alertOf, signInFields } from "../../pages/sign-in-fields.ts";
import {
  type StoredName,
  type OnPage,
  SECRETS_PATH,
  type SecretPage,
  type SecretPages,
} from "./secret-pages.ts";
import type { ReplayGuard } from "../calls/replay-guard.ts";

/** What a person is told who got no key. */
type NoKey = { status: number; message: string; headers?: Record<string, string> };

/** Signs a caller in and makes them a key of their own, which is kept nowhere; `claim` says whether the page is still good. */
export type MakeKey = (
  person: { email: string; password: Secret },
  page: { caller: string; claim: () => Promise<boolean> },
) => Promise<{ apiKey: Secret } | NoKey>;

export type SecretDeskNeeds = {
  pages: SecretPages;
  vault: Pick<Vault, "show" | "remove">;
  replayGuard: ReplayGuard;
  /** The id of the caller whom a token lets in; undefined for a token that lets nobody in. */
  callerOf: (token: string) => Promise<string | undefined>;
  log: Log;
};

export type SecretDesk = (request: Request, makeKey?: MakeKey) => Promise<Response>;

const MOST_BYTES = 4096;
const METHODS = ["GET", "HEAD", "POST"];

const NOUNS = {
  "api-key": { title: "Your new API key", noun: "API key", right: "acts with your rights" },
  "webhook-secret": {
    title: "Your webhook secret",
    noun: "secret",
    right: "can make calls that look like the platform's",
  },
} as const;

const sent = (shown: Page): Response => {
  // The address is a key, or a part of it: it goes nowhere from here.
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

const facts = (rows: readonly (readonly [string, Html | string])[]): Html =>
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

const offer = (
  { kind, name, expiresAt }: SecretPage & StoredName,
  proof: Html | undefined,
  alert?: string,
): Response => {
  const { title, noun, right } = NOUNS[kind];
  return sent({
    ...(alert === undefined ? {} : { status: 403 }),
    title,
    body: html`<h1>${title}</h1>
      <p class="lead">
        Your assistant has had it made. It is shown here once, and not kept after that.
      </p>
      ${alertOf(alert)}
      ${facts([
        ["Name", name],
        ["Good until", until(expiresAt)],
      ])}
      <form method="post">
        ${proof}
        <div class="actions"><button class="primary">Show the ${noun}</button></div>
      </form>
      <p class="note">
        Whoever has this ${noun} ${right}. Go on only if you have just asked for it.
      </p>`,
  });
};

const making = ({ expiresAt }: SecretPage, email = "", refusal?: NoKey): Response => {
  const { message, ...more } = refusal ?? {};
  return sent({
    ...more,
    title: "Make an API key",
    body: html`<h1>Make an API key</h1>
      <p class="lead">
        Your assistant asks for an API key of yours. Sign in with your account on the platform to
        make it: it is shown here once, and kept nowhere.
      </p>
      ${alertOf(message)} ${facts([["Good until", until(expiresAt)]])}
      <form method="post">
        ${signInFields({ email, refused: refusal !== undefined })}
        <div class="actions"><button class="primary">Make the API key</button></div>
      </form>
      <p class="note">
        Whoever has this API key acts with your rights. Go on only if you have just asked for it.
        Your password is used once, and not kept.
      </p>`,
  });
};

const revealed = ({ kind, name }: OnPage, value: string): Response => {
  const { title, noun } = NOUNS[kind === "own-key" ? "api-key" : kind];
  return sent({
    title,
    body: html`<h1>${title}</h1>
      <p class="lead">Copy it now: nobody can show it to you again.</p>
      ${facts([
        ...(name === "" ? [] : [["Name", name] as const]),
        [noun === "secret" ? "Secret" : noun, html`<code>${value}</code>`],
      ])}
      <p class="note">
        Put it where it is needed, then close this page. Do not paste it into a conversation with an
        assistant.
      </p>`,
  });
};

const fieldsIn = async (request: Request): Promise<URLSearchParams> => {
  const body = await readRequestBody(request, MOST_BYTES);
  return new URLSearchParams(body.tooLarge ? "" : body.text);
};

/**
 * Shows each page's secret once. Opening the address shows a button alone, since programs that look at links for people
 * open them too; only what the button sends uses the page up.
 */
export const createSecretDesk = (needs: SecretDeskNeeds): SecretDesk => {
  const { pages, vault, replayGuard, callerOf, log } = needs;
  const proof = pages.proof === "token" ? PROOF : undefined;

  const refused = ({ kind, caller }: SecretPage): void =>
    log.warn("secret_page.refused", { kind, caller });

  const reveal = (one: SecretPage, value: string): Response => {
    log.info("secret_page.shown", { kind: one.kind, caller: one.caller });
    return revealed(one, value);
  };

  const isTheirs = async ({ caller }: SecretPage, request: Request): Promise<boolean> => {
    if (pages.proof === "address") return true;
    const token = (await fieldsIn(request)).get("token")?.trim() ?? "";
    return token !== "" && (await callerOf(token)) === caller;
  };

  const show = async (one: SecretPage & StoredName, request: Request): Promise<Response> => {
    if (!(await isTheirs(one, request))) {
      refused(one);
      return offer(one, proof, "This is not the token by which the secret was asked for.");
    }
    if (!(await replayGuard.claim(one.id, one.expiresAt))) return gone();
    const value = await vault.show(one.name);
    if (value === undefined) return gone();
    await vault.remove(one.name);
    return reveal(one, value);
  };

  const make = async (one: SecretPage, request: Request, makeKey: MakeKey): Promise<Response> => {
    const fields = await fieldsIn(request);
    const email = (fields.get("email") ?? "").trim().slice(0, 254);
    const password = new Secret(fields.get("password") ?? "");
    let claimed: boolean | undefined;
    const claim = async (): Promise<boolean> => {
      claimed = await replayGuard.claim(one.id, one.expiresAt);
      return claimed;
    };
    const made = await makeKey({ email, password }, { caller: one.caller, claim });
    if ("apiKey" in made) return reveal(one, made.apiKey.reveal());
    if (claimed === false) return gone();
    refused(one);
    return making(one, email, made);
  };

  const answer = async (one: SecretPage, request: Request, makeKey?: MakeKey) => {
    const isSent = request.method === "POST";
    if (one.kind === "own-key") {
      if (makeKey === undefined) return gone();
      return isSent ? make(one, request, makeKey) : making(one);
    }
    if ((await vault.show(one.name)) === undefined) return gone();
    return isSent ? show(one, request) : offer(one, proof);
  };

  return async (request, makeKey) => {
    const { pathname } = new URL(request.url);
    const one = pages.open(pathname.slice(pathname.indexOf(SECRETS_PATH) + SECRETS_PATH.length));
    if (one === undefined) return gone();
    if (METHODS.includes(request.method)) return answer(one, request, makeKey);
    return new Response(null, { status: 405, headers: { Allow: METHODS.join(", ") } });
  };
};
