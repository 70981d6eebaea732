import { readRequestBody } from "@modelcontextprotocol/server";
import type { Vault } from "../../broker/port.ts";
import { getClientAddress } from "../../kit/client-address.ts";
import { type Clock, formatTimestamp } from "../../kit/clock.ts";
import { randomToken } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import type { Secret } from "../../kit/secret.ts";
import { type Html, html } from "../../pages/html.ts";
import { type Brand, createPageResponse, type Page } from "../../pages/page.ts";
import { createRepeats, type Outcome, type Repeats } from "../../pages/repeats.ts";
import {
  readSignInFields,
  renderAlert,
  renderFormToken,
  renderSignInFields,
} from "../../pages/sign-in-fields.ts";
import { createFailureLimiter } from "./failure-limiter.ts";
import type { ReplayGuard } from "../tools/asking/replay-guard.ts";
import {
  type PageContent,
  SECRETS_PATH,
  type SecretPage,
  type SecretPages,
  type StoredName,
} from "../tools/secret-pages.ts";
import { refuseMethod } from "./responses.ts";

/** The reason why a person got no API key, in words for the page. */
type KeyRefusal = { status: number; message: string; headers?: Record<string, string> };

/** Signs a person in and creates an API key of theirs, which is not stored. `claim` uses the page up; false if it was used. */
export type CreateOwnKey = (
  person: { email: string; password: Secret },
  page: { caller: string; claim: () => Promise<boolean> },
) => Promise<{ apiKey: Secret } | KeyRefusal>;

export type SecretPageNeeds = {
  pages: SecretPages;
  vault: Pick<Vault, "show" | "remove">;
  replayGuard: ReplayGuard;
  now: Clock;
  log: Log;
  brand?: Brand | undefined;
};

export type AnswerSecretPage = (request: Request, createOwnKey?: CreateOwnKey) => Promise<Response>;

const MAX_BYTES = 4096;
const METHODS = ["GET", "HEAD", "POST"];

const NOUNS = {
  "api-key": { title: "Your new API key", noun: "API key", right: "acts with your rights" },
  "webhook-secret": {
    title: "Your webhook secret",
    noun: "secret",
    right: "can make calls that look like the platform's",
  },
} as const;

const gonePage = (): Page => ({
  status: 410,
  title: "This page has ended",
  body: html`<h1>This page has ended</h1>
    <p class="lead">It was used already, or its ten minutes are over.</p>
    <p>
      If you did not see the secret, ask your assistant to delete the API key or the webhook, and to
      create another.
    </p>`,
});

const tooManyPage = (seconds: number): Page => ({
  status: 429,
  title: "Too many requests",
  headers: { "Retry-After": String(seconds) },
  body: html`<h1>Too many requests</h1>
    <p class="lead">
      Too many addresses of pages that do not exist were opened from your network. Try again in
      ${seconds} seconds.
    </p>`,
});

const factList = (rows: readonly (readonly [string, Html | string])[]): Html =>
  html`<dl class="facts">
    ${rows.map(
      ([term, value]) =>
        html`<dt>${term}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;

const formatTime = (expiresAt: number): string => `${formatTimestamp(expiresAt).slice(11, 16)} UTC`;

const offerPage = ({ kind, name, expiresAt }: SecretPage & StoredName): Page => {
  const { title, noun, right } = NOUNS[kind];
  return {
    title,
    body: html`<h1>${title}</h1>
      <p class="lead">
        Your assistant asked for it. This page shows it once; after that it is deleted here.
      </p>
      ${factList([
        ["Name", name],
        ["Page valid until", formatTime(expiresAt)],
      ])}
      <form method="post">
        ${renderFormToken(randomToken())}
        <div class="actions"><button class="primary">Show the ${noun}</button></div>
      </form>
      <p class="note">
        Anyone who has this ${noun} ${right}. Continue only if you have just asked for it.
      </p>`,
  };
};

const ownKeyPage = ({ expiresAt }: SecretPage, email = "", refusal?: KeyRefusal): Page => {
  const { message, ...more } = refusal ?? {};
  return {
    ...more,
    title: "Create an API key",
    body: html`<h1>Create an API key</h1>
      <p class="lead">
        Your assistant asks for an API key of yours. Sign in with your account on the platform to
        create it. This page shows it once, and this server does not store it.
      </p>
      ${renderAlert(message)} ${factList([["Page valid until", formatTime(expiresAt)]])}
      <form method="post">
        ${renderFormToken(randomToken())}
        ${renderSignInFields({ email, refused: refusal !== undefined })}
        <div class="actions"><button class="primary">Create the API key</button></div>
      </form>
      <p class="note">
        Anyone who has this API key acts with your rights. Continue only if you have just asked for
        it. Your password is used once, and not stored.
      </p>`,
  };
};

const secretPage = ({ kind, name }: PageContent, value: string): Page => {
  const { title, noun } = NOUNS[kind === "own-key" ? "api-key" : kind];
  return {
    title,
    body: html`<h1>${title}</h1>
      <p class="lead">Copy it now: it cannot be shown again.</p>
      ${factList([
        ...(name === "" ? [] : [["Name", name] as const]),
        [noun === "secret" ? "Secret" : noun, html`<code>${value}</code>`],
      ])}
      <p class="note">
        Store it where it is needed, then close this page. Do not paste it into a conversation with
        an assistant.
      </p>`,
  };
};

const refused = (page: Page): Outcome => ({ page, isDone: false });

const showStored = async (
  { vault, replayGuard, log }: SecretPageNeeds,
  shown: SecretPage & StoredName,
): Promise<Outcome> => {
  const { id, name, kind, caller, expiresAt } = shown;
  const value = await vault.show(name);
  if (value === undefined || !(await replayGuard.claim(id, expiresAt))) return refused(gonePage());
  await vault.remove(name);
  log.info("secret_page.shown", { kind, caller });
  return { page: secretPage(shown, value), isDone: true };
};

const offerStored = async (
  { vault }: SecretPageNeeds,
  shown: SecretPage & StoredName,
): Promise<Page> => ((await vault.show(shown.name)) === undefined ? gonePage() : offerPage(shown));

const showOwnKey = async (
  { replayGuard, log }: SecretPageNeeds,
  shown: SecretPage,
  form: URLSearchParams,
  createOwnKey: CreateOwnKey,
): Promise<Outcome> => {
  const { id, kind, caller, expiresAt } = shown;
  const { email, password } = readSignInFields(form);
  let claimed: boolean | undefined;
  const claim = async (): Promise<boolean> => {
    claimed = await replayGuard.claim(id, expiresAt);
    return claimed;
  };
  const created = await createOwnKey({ email, password }, { caller, claim });
  if ("apiKey" in created) {
    log.info("secret_page.shown", { kind, caller });
    return { page: secretPage(shown, created.apiKey.reveal()), isDone: true };
  }
  if (claimed === false) return refused(gonePage());
  log.warn("secret_page.refused", { kind, caller });
  return refused(ownKeyPage(shown, email, created));
};

const readFormOf = async (request: Request): Promise<URLSearchParams> => {
  const body = await readRequestBody(request, MAX_BYTES);
  return new URLSearchParams(body.tooLarge ? "" : body.text);
};

const submit = async (
  needs: SecretPageNeeds,
  repeats: Repeats,
  shown: SecretPage,
  request: Request,
  createOwnKey: CreateOwnKey | undefined,
): Promise<Page> => {
  const form = await readFormOf(request);
  const { pathname } = new URL(request.url);
  return repeats.answer(pathname, form, async () => {
    if (shown.kind !== "own-key") return showStored(needs, shown);
    if (createOwnKey === undefined) return refused(gonePage());
    return showOwnKey(needs, shown, form, createOwnKey);
  });
};

/**
 * Answers the pages that show a secret once. GET shows a button only, because mail and chat programs fetch links to
 * preview them; the button's POST uses the page up. The same form sent again, as a double click does, shows it again for
 * a moment.
 */
export const createSecretPageHandler = (needs: SecretPageNeeds): AnswerSecretPage => {
  const failures = createFailureLimiter(needs.now);
  const repeats = createRepeats(needs.now);
  const answer = async (request: Request, createOwnKey?: CreateOwnKey): Promise<Page> => {
    const { pathname } = new URL(request.url);
    const part = pathname.slice(pathname.indexOf(SECRETS_PATH) + SECRETS_PATH.length);
    const shown = needs.pages.open(part);
    if (shown === undefined) {
      const { retryAfter } = await failures.begin(getClientAddress());
      return retryAfter === undefined ? gonePage() : tooManyPage(retryAfter);
    }
    if (request.method === "POST") return submit(needs, repeats, shown, request, createOwnKey);
    if (shown.kind !== "own-key") return offerStored(needs, shown);
    return createOwnKey === undefined ? gonePage() : ownKeyPage(shown);
  };
  return async (request, createOwnKey) =>
    METHODS.includes(request.method)
      ? createPageResponse(await answer(request, createOwnKey), needs.brand)
      : refuseMethod(METHODS.join(", "));
};
