import { type Html, html, toOneLine } from "../pages/html.ts";
import type { Page } from "../pages/page.ts";
import {
  type CompanyLink,
  hasPasswordFields,
  renderAlert,
  renderCompanyLink,
  renderFormToken,
  renderSignInFields,
} from "../pages/sign-in-fields.ts";
import type { Tenant } from "./directory.ts";
import { type Scope, SCOPES } from "./scopes.ts";

/** A client as the pages describe it. The client chooses all of it except the hosts. */
export type ClientDescription = {
  name: string;
  /** The host of its metadata document; undefined if the client registered itself. */
  documentHost: string | undefined;
  /** The host of its redirect URI; undefined for a program on the person's own computer. */
  redirectHost: string | undefined;
  /** Whether it is the page of this server itself, which chose nothing. */
  isOwnPage: boolean;
};

/** The name of a client within a sentence. */
const nameInside = ({ name, isOwnPage }: ClientDescription): string =>
  isOwnPage ? "the web page of this server" : name;

type FormPage = {
  /** The last path segment of the sign-in's pages. */
  path: string;
  formToken: string;
  client: ClientDescription;
  email: string;
  alert?: string | undefined;
  status?: number | undefined;
};

export type SignInPage = FormPage & {
  /** The name of the platform that receives the password. */
  platform: string;
  headers?: Record<string, string> | undefined;
  company?: CompanyLink | undefined;
};

const renderPasswordForm = (
  { path, formToken, client, alert, email, company }: SignInPage,
  cancel: Html,
): Html | undefined =>
  hasPasswordFields(company)
    ? html`<form method="post" action="${path}">
          ${renderFormToken(formToken)}
          ${renderSignInFields({ email, refused: alert !== undefined && company === undefined, ...focusOf(email, company) })}
          <div class="actions">
            <button
              class="${company === undefined ? "primary" : "quiet"}"
              name="action"
              value="sign-in"
            >
              Continue
            </button>
            ${cancel}
          </div>
        </form>
        <p class="note">
          Your password is used once, to create an API key for this server. It is not stored.
          ${client.name} sees neither of them.
        </p>`
    : html`<p class="note">
        Your company tells this server your e-mail address, and nothing else. ${client.name} does
        not see it.
      </p>`;

/** A button to the company has the focus, instead of a field. */
const focusOf = (email: string, company: CompanyLink | undefined) =>
  company === undefined
    ? { autofocus: email === "" ? ("email" as const) : ("password" as const) }
    : {};

const chooseAccount = ({ platform, company }: SignInPage): Html =>
  hasPasswordFields(company)
    ? html`Sign in with your account at <strong>${platform}</strong>`
    : html`Sign in at your company`;

export const signInPage = (content: SignInPage): Page => {
  const { path, formToken, client, alert, status, headers, company } = content;
  const cancel = html`<a class="button quiet" href="${path}/cancel?form=${formToken}">Cancel</a>`;
  const head = client.isOwnPage
    ? html`<h1>Sign in</h1>
        <p class="lead">
          ${chooseAccount(content)} to see your receivables on the web page of this server.
        </p>`
    : html`<h1>Sign in to connect ${client.name}</h1>
        <p class="lead">
          <strong>${client.name}</strong> would like to work with your receivables.
          ${chooseAccount(content)}.
        </p>`;
  const body = html`${head} ${renderAlert(alert)} ${renderCompanyLink(company, cancel)}
  ${renderPasswordForm(content, cancel)}`;
  return { title: "Sign in", body, isPopup: true, status, headers };
};

const renderTenantChoice = (tenants: readonly Tenant[], chosen: string | undefined): Html => {
  const [only, ...more] = tenants;
  if (only !== undefined && more.length === 0) {
    return html`<input type="hidden" name="tenant" value="${only.id}" />`;
  }
  const options = tenants.map(
    ({ id, name }, index) =>
      html`<label>
        <input
          type="radio"
          name="tenant"
          value="${id}"
          required${(chosen === undefined ? index === 0 : id === chosen) ? html` checked` : undefined}
        />
        <span><b>${name}</b><small>${id}</small></span>
      </label>`,
  );
  return html`<fieldset class="choices">
    <legend>For which company?</legend>
    ${options}
  </fieldset>`;
};

const renderScopeChoice = (offered: readonly Scope[], chosen: readonly Scope[]): Html =>
  html`<fieldset class="choices">
    <legend>What it may do</legend>
    <p class="hint">
      The program's request is ticked. Many programs ask only once, so tick everything it should do.
    </p>
    ${offered.map(
      (scope) =>
        html`<label>
          <input
            type="checkbox"
            name="scope"
            value="${scope}"
            ${chosen.includes(scope) ? html` checked` : undefined}
          />
          <span><b>${SCOPES[scope].title}</b><small>${SCOPES[scope].description}</small></span>
        </label>`,
    )}
  </fieldset>`;

/** An address breaks before the @ first, if it is longer than a line. */
const renderEmail = (email: string): Html[] =>
  email.split(/(?=@)/).map((part, index) => (index === 0 ? html`${part}` : html`<wbr />${part}`));

/** Says who vouches for a client's name, and where the browser goes next. */
const renderOrigin = ({ documentHost, redirectHost, isOwnPage }: ClientDescription) => {
  if (isOwnPage) {
    return {
      origin: "part of this server",
      next: html`your browser returns to <strong>it</strong>`,
    };
  }
  return {
    origin:
      documentHost === undefined ? "a name that it chose itself" : `described at ${documentHost}`,
    next:
      redirectHost === undefined
        ? html`your browser opens <strong>a program on this computer</strong>`
        : html`your browser goes to <strong>${redirectHost}</strong>`,
  };
};

const renderFacts = ({ client, email, tenants }: ConsentPage): Html => {
  const { origin, next } = renderOrigin(client);
  const [tenant, ...others] = tenants;
  const company =
    tenant === undefined || others.length > 0
      ? undefined
      : html`<dt>Company</dt>
          <dd><strong>${tenant.name}</strong><small>${tenant.id}</small></dd>`;
  return html`<dl class="facts">
    <dt>Program</dt>
    <dd><strong>${client.name}</strong><small>${origin}</small></dd>
    <dt>You</dt>
    <dd><strong>${renderEmail(email)}</strong></dd>
    ${company}
    <dt>Then</dt>
    <dd>${next}</dd>
  </dl>`;
};

export type ConsentPage = FormPage & {
  tenants: readonly Tenant[];
  /** The id of the preselected tenant. */
  tenant?: string | undefined;
  offered: readonly Scope[];
  chosen: readonly Scope[];
};

const warnOf = ({ redirectHost, isOwnPage }: ClientDescription): string => {
  if (isOwnPage) return "Allow it only if you came from that page.";
  return redirectHost === undefined
    ? "Allow it only if you have just started it on this computer."
    : `Allow it only if you came from ${redirectHost}.`;
};

export const consentPage = (content: ConsentPage): Page => {
  const { path, formToken, client, alert, tenants, tenant, offered, chosen, status } = content;
  const body = html`<h1>Allow ${nameInside(client)} to connect?</h1>
    <p class="lead">It would act with your own rights, and only as far as you allow here.</p>
    ${renderAlert(alert)} ${renderFacts(content)}
    <form method="post" action="${path}">
      ${renderFormToken(formToken)} ${renderTenantChoice(tenants, tenant)}
      ${renderScopeChoice(offered, chosen)}
      <div class="actions">
        <button class="primary" name="action" value="allow">Allow</button>
        <button class="quiet" name="action" value="cancel" formnovalidate>Cancel</button>
      </div>
      <p class="note">
        ${warnOf(client)} You can disconnect it at any time under
        <a href="../account">connected programs</a>.
        <button class="link" name="action" value="switch" formnovalidate>
          Sign in with another account
        </button>
      </p>
    </form>`;
  return { title: "Allow access", body, redirectsAway: true, isPopup: true, status };
};

/** The page for a request that cannot continue. */
export const errorPage = (message: string, status = 400): Page => ({
  title: "This cannot continue",
  isPopup: true,
  status,
  body: html`<h1>This cannot continue</h1>
    <p class="lead">${message}</p>
    <p>Go back to the program that sent you here and connect again. You can close this page.</p>`,
});

/** The page for a request that cannot continue, of a client that registered itself at another site. */
export const refusedRequestPage = (message: string, to: URL): Page => ({
  title: "This cannot continue",
  isPopup: true,
  status: 400,
  body: html`<h1>This cannot continue</h1>
    <p class="lead">${message}</p>
    <p>
      The program that sent you here is at <strong>${toOneLine(to.host, 255)}</strong>. Go back only
      if you came from there:
      <a href="${to.href}" rel="noreferrer">go back to ${toOneLine(to.host, 255)}</a>.
    </p>`,
});

/** The page for a person whose program has received its answer already, for example after a double click. */
export const connectedPage = (): Page => ({
  title: "Connected",
  isPopup: true,
  body: html`<h1>The program is connected</h1>
    <p class="lead">Your answer has reached it already. You can close this page.</p>`,
});

export const expiredSignInPage = (): Page =>
  errorPage(
    "This sign-in has ended: it took too long, it was completed already, it started in another browser, or this browser blocks cookies for this address.",
  );

export const foreignFormPage = (): Page =>
  errorPage("This form was not sent from a page of this server.", 403);
