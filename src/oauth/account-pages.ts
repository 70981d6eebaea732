import { type Html, html } from "../pages/html.ts";
import { page, type Sent } from "../pages/page.ts";
import { alertOf, signInFields } from "../pages/sign-in-fields.ts";
import { iso } from "../kit/clock.ts";
import { type Connection, handleOf } from "./grants.ts";
import type { Tenant } from "./people.ts";
import { SCOPES } from "./scopes.ts";

/** A person's connections at one tenant. */
export type Connected = { tenant: Tenant; connections: readonly Connection[] };

const hidden = (form: string): Html => html`<input type="hidden" name="form" value="${form}" />`;

export type EntryPage = {
  form: string;
  email: string;
  platform: string;
  alert?: string | undefined;
  status?: number;
  headers?: Record<string, string>;
};

/** Where a person signs in to see what is connected. */
export const entryPage = ({ form, email, platform, alert, ...more }: EntryPage): Sent =>
  page({
    title: "Connected programs",
    ...more,
    body: html`<h1>Connected programs</h1>
      <p class="lead">
        Sign in with your account at <strong>${platform}</strong> to see which programs act for you
        here, and to disconnect those that you no longer need.
      </p>
      ${alertOf(alert)}
      <form method="post" action="account">
        ${hidden(form)} ${signInFields({ email, focus: "email" })}
        <div class="actions">
          <button class="primary" name="action" value="sign-in">Show them</button>
        </div>
      </form>`,
  });

const item = (form: string, tenant: Tenant, connection: Connection): Html =>
  html`<li>
    <h2>${connection.client}</h2>
    <p>${connection.host} · ${tenant.name}</p>
    <p>${connection.scopes.map((scope) => SCOPES[scope].title).join(" · ")}</p>
    <p>Connected on ${iso(connection.since).slice(0, 10)}</p>
    <form method="post" action="account">
      ${hidden(form)}
      <input type="hidden" name="connection" value="${handleOf(connection)}" />
      <button class="danger" name="action" value="end" aria-label="Disconnect ${connection.client}">
        Disconnect
      </button>
    </form>
  </li>`;

/** What is connected, each with a button that ends it. */
export const accountPage = (shown: {
  form: string;
  email: string;
  connected: readonly Connected[];
}): Sent => {
  const { form, email, connected } = shown;
  const items = connected.flatMap(({ tenant, connections }) =>
    connections.map((connection) => item(form, tenant, connection)),
  );
  const list =
    items.length === 0
      ? html`<p>No program is connected.</p>`
      : html`<ul class="list">
          ${items}
        </ul>`;
  return page({
    title: "Connected programs",
    body: html`<h1>Connected programs</h1>
      <p class="lead">
        They act with the rights of <strong>${email}</strong>. Whatever you disconnect stops at
        once.
      </p>
      ${list}
      <form method="post" action="account" class="note">
        ${hidden(form)}
        <button class="link" name="action" value="sign-out">Sign out</button>
      </form>`,
  });
};
