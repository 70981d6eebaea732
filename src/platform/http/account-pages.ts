import { Problem } from "../../contract/errors.ts";
import { PASSWORD_PAGE } from "../../contract/index.ts";
import { systemClock } from "../../kit/clock.ts";
import { randomToken } from "../../kit/ids.ts";
import { Secret } from "../../kit/secret.ts";
import { type Html, html } from "../../pages/html.ts";
import { type Brand, createPageResponse, type Page } from "../../pages/page.ts";
import {
  readNewPassword,
  renderCurrentPassword,
  renderNewPasswordFields,
} from "../../pages/password-fields.ts";
import { createRepeats, type Outcome, type Repeats } from "../../pages/repeats.ts";
import { renderAlert, renderEmailField, renderFormToken } from "../../pages/sign-in-fields.ts";
import { RESET_PATH, type ResetHolder } from "../reset-tokens.ts";
import type { Passwords } from "../services/passwords.ts";
import { collectText } from "./input.ts";

/** One request for a page. */
export type PageRequest = {
  request: Request;
  requestId: string;
  token: string;
  ip: string;
  now: number;
};

/** A page for people. `serve` throws refusals of the whole request as Problems. */
export type PageRoute = { path: string; serve(asked: PageRequest): Promise<Response> };

const MAX_BYTES = 16 * 1024;
const { path: CHANGE_PATH } = PASSWORD_PAGE;

const foreignPage = (): Page => ({
  status: 403,
  title: "This cannot continue",
  body: html`<h1>This cannot continue</h1>
    <p class="lead">This form was not sent from a page of this server.</p>`,
});

/** Reads a form; undefined if no page of this server sent it. @throws {Problem} payload_too_large, invalid_json */
const readForm = async (request: Request): Promise<URLSearchParams | undefined> => {
  const site = request.headers.get("sec-fetch-site") ?? "same-origin";
  const type = request.headers.get("content-type") ?? "";
  if (
    !["same-origin", "none"].includes(site) ||
    !/^application\/x-www-form-urlencoded(?:;|$)/i.test(type)
  ) {
    return undefined;
  }
  return new URLSearchParams(
    request.body === null ? "" : await collectText(request.body, MAX_BYTES),
  );
};

/** Turns a refusal into the words of its page. */
const toAlert = (error: unknown): { alert: string } & Pick<Page, "status" | "headers"> => {
  if (!(error instanceof Problem)) throw error;
  const { status, message, details } = error;
  const wait = details.retryAfterSeconds;
  return {
    status,
    alert: message,
    headers: wait === undefined ? {} : { "Retry-After": String(wait) },
  };
};

const readNext = (form: URLSearchParams): Secret => {
  const next = readNewPassword(form);
  if (next !== undefined) return next;
  throw new Problem("invalid_request", "The two new passwords differ. Type the same one twice.");
};

const donePage = (): Page => ({
  title: "Password set",
  body: html`<h1>Your password is set</h1>
    <p class="lead">
      Sign in with it from now on. Wherever you were signed in, and in programs that were connected
      with your account, you have to sign in again. Your API keys were removed.
    </p>
    <p>You can close this page.</p>`,
});

type Form = { alert?: string } & Pick<Page, "status" | "headers">;

const renderForm = (
  { title, lead, button, alert, ...page }: Form & { title: string; lead: Html; button: string },
  fields: Html,
): Page => ({
  ...page,
  title,
  body: html`<h1>${title}</h1>
    <p class="lead">${lead}</p>
    ${renderAlert(alert)}
    <form method="post">
      ${renderFormToken(randomToken())} ${fields} ${renderNewPasswordFields()}
      <div class="actions"><button class="primary">${button}</button></div>
    </form>
    <p class="note">
      This ends all your sessions, connected programs and API keys, so that someone who knows the
      former password loses access.
    </p>`,
});

const changeForm = (email: string, form: Form = {}): Page =>
  renderForm(
    {
      ...form,
      title: "Change your password",
      lead: html`Type the password that you have now, and a new one.`,
      button: "Change password",
    },
    html`${renderEmailField(email)}${renderCurrentPassword()}`,
  );

const resetForm = ({ email }: ResetHolder, form: Form = {}): Page =>
  renderForm(
    {
      ...form,
      title: "Set your password",
      lead: html`For <strong>${email}</strong>. This page works once, within 30 minutes.`,
      button: "Set password",
    },
    // Password managers store the new password under this name.
    html`<input type="hidden" name="email" autocomplete="username" value="${email}" />`,
  );

const endedPage = (): Page => ({
  status: 410,
  title: "This link has ended",
  body: html`<h1>This link has ended</h1>
    <p class="lead">It was used already, a newer password exists, or its 30 minutes are over.</p>
    <p>Ask the person who gave it to you for another one.</p>`,
});

const refused = (page: Page): Outcome => ({ page, isDone: false });

const serveChange = async (
  passwords: Passwords,
  repeats: Repeats,
  { request, requestId, ip, now }: PageRequest,
): Promise<Page> => {
  if (request.method !== "POST") return changeForm("");
  const form = await readForm(request);
  if (form === undefined) return foreignPage();
  const email = (form.get("email") ?? "").trim().slice(0, 254);
  return repeats.answer(CHANGE_PATH, form, async () => {
    try {
      const next = readNext(form);
      const sent = { email, password: new Secret(form.get("password") ?? ""), next };
      await passwords.change(sent, { requestId, ip, now, endpoint: CHANGE_PATH });
      return { page: donePage(), isDone: true };
    } catch (error) {
      return refused(changeForm(email, toAlert(error)));
    }
  });
};

const RESET_ROUTE = `${RESET_PATH}{token}`;

const serveReset = async (
  passwords: Passwords,
  repeats: Repeats,
  { request, token, ip, now }: PageRequest,
): Promise<Page> => {
  if (request.method !== "POST") {
    const holder = await passwords.findHolder(token, { ip, now });
    return holder === undefined ? endedPage() : resetForm(holder);
  }
  const form = await readForm(request);
  return repeats.answer(RESET_PATH + token, form ?? new URLSearchParams(), async () => {
    const holder = await passwords.findHolder(token, { ip, now });
    if (holder === undefined) return refused(endedPage());
    if (form === undefined) return refused(foreignPage());
    try {
      const isSet = await passwords.reset(holder, readNext(form), { endpoint: RESET_ROUTE, ip });
      return { page: isSet ? donePage() : endedPage(), isDone: isSet };
    } catch (error) {
      return refused(resetForm(holder, toAlert(error)));
    }
  });
};

/** Creates the pages on which people change their passwords, or set one with a link from an operator. */
export const createAccountPages = (passwords: Passwords, brand?: Brand): PageRoute[] => {
  const repeats = createRepeats(systemClock);
  return [
    {
      path: CHANGE_PATH,
      serve: async (pageRequest) =>
        createPageResponse(await serveChange(passwords, repeats, pageRequest), brand),
    },
    {
      path: RESET_ROUTE,
      serve: async (pageRequest) =>
        createPageResponse(await serveReset(passwords, repeats, pageRequest), brand),
    },
  ];
};
