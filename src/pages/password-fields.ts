import { Secret } from "../kit/secret.ts";
import { type Html, html } from "./html.ts";

const renderNewPassword = (id: "new" | "again", label: string, hint: Html | undefined): Html =>
  html`<div class="field">
    <label for="${id}">${label}</label>
    <input
      id="${id}"
      name="${id}"
      type="password"
      autocomplete="new-password"
      required
      minlength="12"
      maxlength="1024"
      ${hint === undefined ? undefined : html` aria-describedby="new-hint"`}
    />
    ${hint}
  </div>`;

/** Renders the inputs for a new password, twice because its text is hidden. */
export const renderNewPasswordFields = (): Html =>
  html`${renderNewPassword(
    "new",
    "New password",
    html`<small id="new-hint">At least 12 characters, and not a common password.</small>`,
  )}
  ${renderNewPassword("again", "New password again", undefined)}`;

/** Renders the input for the password that is replaced. */
export const renderCurrentPassword = (): Html =>
  html`<div class="field">
    <label for="password">Current password</label>
    <input
      id="password"
      name="password"
      type="password"
      autocomplete="current-password"
      required
      maxlength="1024"
    />
  </div>`;

/** Reads the submitted values of {@link renderNewPasswordFields}; undefined if they differ. */
export const readNewPassword = (form: URLSearchParams): Secret | undefined => {
  const text = form.get("new") ?? "";
  return text === (form.get("again") ?? "") ? new Secret(text) : undefined;
};
