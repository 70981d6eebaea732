import { Secret } from "../kit/secret.ts";
import { type Html, html } from "./html.ts";

type SignInFields = {
  email: string;
  /** Whether the previous input was refused. */
  refused?: boolean;
  autofocus?: "email" | "password";
};

/** Renders the input for the e-mail address; `attributes` end its tag. */
export const renderEmailField = (email: string, attributes?: Html): Html =>
  html`<div class="field">
    <label for="email">E-mail address</label>
    <input
      id="email"
      name="email"
      type="email"
      autocomplete="username"
      required
      maxlength="254"
      value="${email}"
      ${attributes}
    />
  </div>`;

/** Renders the inputs for e-mail address and password. */
export const renderSignInFields = ({ email, refused = false, autofocus }: SignInFields): Html => {
  const invalid = refused ? html` aria-invalid="true"` : undefined;
  const focus = (field: SignInFields["autofocus"]): Html | undefined =>
    autofocus === field ? html` autofocus` : undefined;
  return html`${renderEmailField(email, html`${invalid}${focus("email")}`)}
    <div class="field">
      <label for="password">Password</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="current-password"
        required
        maxlength="1024"
        ${invalid}${focus("password")}
      />
      <small
        >Forgotten? Ask the administrator of your company for a link with which you choose a new
        one.</small
      >
    </div>`;
};

/** The way to the OpenID provider of the person's company. */
export type CompanyLink = {
  host: string;
  href: string;
  /** Whether a password is accepted, too. */
  hasPasswords: boolean;
};

/** Renders the button to the company's provider, and `more` after it. */
export const renderCompanyLink = (link: CompanyLink | undefined, more?: Html): Html | undefined =>
  link &&
  html`<div class="actions">
      <a class="button primary" href="${link.href}">Sign in at ${link.host}</a>
      ${link.hasPasswords ? undefined : more}
    </div>
    ${link.hasPasswords ? html`<p class="or">or with a password</p>` : undefined}`;

/** Whether a page has fields for a password. */
export const hasPasswordFields = (link: CompanyLink | undefined): boolean =>
  link?.hasPasswords ?? true;

/** Reads the submitted values of {@link renderSignInFields}. */
export const readSignInFields = (form: URLSearchParams): { email: string; password: Secret } => ({
  email: (form.get("email") ?? "").trim().slice(0, 254),
  password: new Secret(form.get("password") ?? ""),
});

/** Renders the hidden field with a form's token. */
export const renderFormToken = (token: string): Html =>
  html`<input type="hidden" name="form" value="${token}" />`;

/** Renders the reason why a page is shown again. */
export const renderAlert = (text: string | undefined): Html | undefined =>
  text === undefined ? undefined : html`<p class="alert" role="alert">${text}</p>`;
