import { type Html, html } from "../pages/html.ts";
import { page, type Sent } from "../pages/page.ts";
import { alertOf, signInFields } from "../pages/sign-in-fields.ts";
import type { Tenant } from "./people.ts";
import { type Scope, SCOPES } from "./scopes.ts";

/** A client as a person is told of it; every text in it is its own. */
export type Face = {
  name: string;
  /** Where the document lies that describes it; undefined where it merely registered itself. */
  home: string | undefined;
  /** Where the browser goes afterwards; undefined for a program on the person's own machine. */
  returnsTo: string | undefined;
};

type Common = { part: string; form: string; face: Face; alert?: string | undefined };

const hidden = (form: string): Html => html`<input type="hidden" name="form" value="${form}" />`;

export type SignInPage = Common & {
  email: string;
  /** Where the password goes. */
  platform: string;
  status?: number;
  headers?: Record<string, string>;
};

export const signInPage = (shown: SignInPage): Sent => {
  const { part, form, face, alert, email, platform, status, headers } = shown;
  const body = html`<h1>Sign in to connect ${face.name}</h1>
    <p class="lead">
      <strong>${face.name}</strong> would like to work with your receivables. Sign in with your
      account at <strong>${platform}</strong>.
    </p>
    ${alertOf(alert)}
    <form method="post" action="${part}">
      ${hidden(form)}
      ${signInFields({ email, refused: alert !== undefined, focus: email === "" ? "email" : "password" })}
      <div class="actions">
        <button class="primary" name="action" value="sign-in">Continue</button>
        <a class="button quiet" href="${part}/cancel?form=${form}">Cancel</a>
      </div>
    </form>
    <p class="note">
      Your password is used once, to make an API key for this server. It is not kept. ${face.name}
      sees neither of them.
    </p>`;
  return page({
    title: "Sign in",
    body,
    ...(status === undefined ? {} : { status }),
    ...(headers === undefined ? {} : { headers }),
  });
};

const tenantChoice = (tenants: readonly Tenant[], chosen: string | undefined): Html => {
  const [only, ...more] = tenants;
  if (only !== undefined && more.length === 0) {
    return html`<input type="hidden" name="tenant" value="${only.id}" />`;
  }
  const options = tenants.map(
    ({ id, name }, place) =>
      html`<label>
        <input
          type="radio"
          name="tenant"
          value="${id}"
          required${(chosen === undefined ? place === 0 : id === chosen) ? html` checked` : undefined}
        />
        <span><b>${name}</b><small>${id}</small></span>
      </label>`,
  );
  return html`<fieldset class="choices">
    <legend>For which company?</legend>
    ${options}
  </fieldset>`;
};

const scopeChoice = (offered: readonly Scope[], chosen: readonly Scope[]): Html =>
  html`<fieldset class="choices">
    <legend>What it may do</legend>
    <p class="hint">
      What it asks for is ticked. Many programs ask once, so tick what they shall do.
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
          <span><b>${SCOPES[scope].title}</b><small>${SCOPES[scope].words}</small></span>
        </label>`,
    )}
  </fieldset>`;

const factsOf = (
  { name, home, returnsTo }: Face,
  email: string,
  tenants: readonly Tenant[],
): Html => {
  const [only] = tenants;
  const company =
    only === undefined || tenants.length > 1
      ? undefined
      : html`<dt>Company</dt>
          <dd><strong>${only.name}</strong><small>${only.id}</small></dd>`;
  return html`<dl class="facts">
    <dt>Program</dt>
    <dd>
      <strong>${name}</strong
      ><small>${home === undefined ? "a name that it chose itself" : `described at ${home}`}</small>
    </dd>
    <dt>You</dt>
    <dd><strong>${email}</strong></dd>
    ${company}
    <dt>Then</dt>
    <dd>
      ${
        returnsTo === undefined
          ? html`your browser hands over to <strong>a program on this computer</strong>`
          : html`your browser goes to <strong>${returnsTo}</strong>`
      }
    </dd>
  </dl>`;
};

export type ConsentPage = Common & {
  email: string;
  tenants: readonly Tenant[];
  tenant?: string | undefined;
  offered: readonly Scope[];
  chosen: readonly Scope[];
  status?: number;
};

export const consentPage = (shown: ConsentPage): Sent => {
  const { part, form, face, alert, email, tenants, tenant, offered, chosen, status } = shown;
  const care =
    face.returnsTo === undefined
      ? "Allow it only if you have just started it on this computer. "
      : `Allow it only if you came from ${face.returnsTo}. `;
  const body = html`<h1>Allow ${face.name} in?</h1>
    <p class="lead">It would act with your own rights, and only as far as you allow here.</p>
    ${alertOf(alert)} ${factsOf(face, email, tenants)}
    <form method="post" action="${part}">
      ${hidden(form)} ${tenantChoice(tenants, tenant)} ${scopeChoice(offered, chosen)}
      <div class="actions">
        <button class="primary" name="action" value="allow">Allow</button>
        <button class="quiet" name="action" value="cancel" formnovalidate>Cancel</button>
      </div>
      <p class="note">
        ${care}You can disconnect it at any time under <a href="../account">connected programs</a>.
        <button class="link" name="action" value="switch" formnovalidate>
          Sign in as somebody else
        </button>
      </p>
    </form>`;
  return page({
    title: "Allow access",
    body,
    leavesForm: true,
    ...(status === undefined ? {} : { status }),
  });
};

export const endedPage = (message: string, status = 400): Sent =>
  page({
    title: "It goes no further",
    status,
    body: html`<h1>It goes no further here</h1>
      <p class="lead">${message}</p>
      <p>Go back to the program that sent you here and connect again. You can close this page.</p>`,
  });
