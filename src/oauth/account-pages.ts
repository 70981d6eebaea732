import { type Html, html } from "../pages/html.ts";
import type { Page } from "../pages/page.ts";
import { renderCurrentPassword, renderNewPasswordFields } from "../pages/password-fields.ts";
import {
  type CompanyLink,
  hasPasswordFields,
  renderAlert,
  renderCompanyLink,
  renderFormToken,
  renderSignInFields,
} from "../pages/sign-in-fields.ts";
import { formatDay } from "../kit/clock.ts";
import { type Connection, connectionHandle } from "./grants.ts";
import type { Tenant } from "./directory.ts";
import type { Refusal } from "./refusal.ts";
import { SCOPES } from "./scopes.ts";

/** A connected program, and the tenant that it was connected for. */
export type TenantConnection = { tenant: Tenant; connection: Connection };

export type AccountSignInPage = {
  formToken: string;
  email: string;
  platform: string;
  refusal?: (Pick<Refusal, "message"> & Partial<Refusal>) | undefined;
  company?: CompanyLink | undefined;
};

/** The page on which a person signs in to see their connected programs. */
export const accountSignInPage = (content: AccountSignInPage): Page => {
  const { formToken, email, platform, refusal, company } = content;
  return {
    title: "Connected programs",
    status: refusal?.status,
    headers: refusal?.headers,
    body: html`<h1>Connected programs</h1>
      <p class="lead">
        Sign in with your account at <strong>${platform}</strong> to see which programs act for you
        here, and to disconnect those that you no longer need.
      </p>
      ${renderAlert(refusal?.message)} ${renderCompanyLink(company)}
      ${
        hasPasswordFields(company)
          ? html`<form method="post" action="account">
              ${renderFormToken(formToken)}
              ${renderSignInFields({ email, ...(company === undefined ? { autofocus: "email" } : {}) })}
              <div class="actions">
                <button class="primary" name="action" value="sign-in">Show programs</button>
              </div>
            </form>`
          : undefined
      }`,
  };
};

const renderItem = (formToken: string, { tenant, connection }: TenantConnection): Html =>
  html`<li>
    <h2>${connection.client}</h2>
    <p>${connection.host} · ${tenant.name}</p>
    <p>${connection.scopes.map((scope) => SCOPES[scope].title).join(" · ")}</p>
    <p>Connected on ${formatDay(connection.since)}</p>
    <form method="post" action="account">
      ${renderFormToken(formToken)}
      <input type="hidden" name="connection" value="${connectionHandle(connection)}" />
      <button class="danger" name="action" value="end" aria-label="Disconnect ${connection.client}">
        Disconnect
      </button>
    </form>
  </li>`;

/** The platform's page on which people change their passwords; `isOwn` if this server has its address. */
export type PasswordPage = { url: string; isOwn: boolean };

// Browsers send a form to the page's own origin only, because the policy says so.
const renderPasswordChange = ({ url, isOwn }: PasswordPage, email: string): Html =>
  isOwn
    ? html`<details class="note">
        <summary>Change your password</summary>
        <form method="post" action="${url}">
          <input type="hidden" name="email" autocomplete="username" value="${email}" />
          ${renderCurrentPassword()} ${renderNewPasswordFields()}
          <p>This also ends your sessions, and removes your API keys and connected programs.</p>
          <div class="actions"><button class="primary">Change password</button></div>
        </form>
      </details>`
    : html`<p class="note"><a href="${url}">Change your password</a></p>`;

/** The list of connected programs, each with a button that disconnects it, and the way to a new password. */
export const accountPage = (
  formToken: string,
  email: string,
  connections: readonly TenantConnection[],
  passwordPage: PasswordPage | undefined,
): Page => {
  const list =
    connections.length === 0
      ? html`<p>No program is connected.</p>`
      : html`<ul class="list">
          ${connections.map((one) => renderItem(formToken, one))}
        </ul>`;
  return {
    title: "Connected programs",
    body: html`<h1>Connected programs</h1>
      <p class="lead">
        They act with the rights of <strong>${email}</strong>. A program that you disconnect loses
        its access at once.
      </p>
      ${list} ${passwordPage && renderPasswordChange(passwordPage, email)}
      <form method="post" action="account" class="note">
        ${renderFormToken(formToken)}
        <button class="link" name="action" value="sign-out">Sign out</button>
      </form>`,
  };
};
