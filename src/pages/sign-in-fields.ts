import { type Html, html } from "./html.ts";

export type SignInFields = {
  email: string;
  /** Whether what was typed last is refused. */
  refused?: boolean;
  /** Where typing begins. */
  focus?: "email" | "password" | undefined;
};

/** Where a person types who they are on the platform. */
export const signInFields = ({ email, refused = false, focus }: SignInFields): Html => {
  const wrong = refused ? html` aria-invalid="true"` : undefined;
  const focused = (field: SignInFields["focus"]): Html | undefined =>
    focus === field ? html` autofocus` : undefined;
  return html`<div class="field">
      <label for="email">E-mail address</label>
      <input
        id="email"
        name="email"
        type="email"
        autocomplete="username"
        required
        maxlength="254"
        value="${email}"
        ${wrong}${focused("email")}
      />
    </div>
    <div class="field">
      <label for="password">Password</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="current-password"
        required
        maxlength="1024"
        ${wrong}${focused("password")}
      />
    </div>`;
};

/** Why a page is shown again. */
export const alertOf = (text: string | undefined): Html | undefined =>
  text === undefined ? undefined : html`<p class="alert" role="alert">${text}</p>`;
