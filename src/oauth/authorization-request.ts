import { ALL_SCOPES, parseScopes, REQUESTED_SCOPE_PARAMETER } from "./scopes.ts";

/** The scope of a request that names none of this server's. */
const DEFAULT_SCOPE = "read";

/** Scopes of OpenID Connect, which name nothing on the consent page. */
const OPENID_SCOPES = ["openid", "offline_access"];

const RESPONSE_MODES = ["query", "fragment", "form_post"];

/** Each request asks for a new sign-in with consent, so hints about an earlier one have no effect. */
const WITHOUT_EFFECT = [
  "acr_values",
  "claims",
  "claims_locales",
  "display",
  "id_token_hint",
  "max_age",
  "registration",
];

const split = (text: string | null): string[] =>
  [...new Set((text ?? "").split(/\s/))].filter((word) => word !== "");

/** Removes empty parameters, and the repetitions of a value. */
const removeRepeated = (parameters: URLSearchParams): void => {
  for (const name of new Set(parameters.keys())) {
    const values = [...new Set(parameters.getAll(name))].filter((value) => value.trim() !== "");
    parameters.delete(name);
    for (const value of values) parameters.append(name, value);
  }
};

/**
 * Adds all scopes to an authorization request, because many hosts ask once and for little, and the person may grant
 * more. The consent page preselects the requested scopes.
 */
const offerAllScopes = (parameters: URLSearchParams): void => {
  const words = split(parameters.get("scope"));
  const requested = parseScopes(words.join(" ")).join(" ") || DEFAULT_SCOPE;
  parameters.set(REQUESTED_SCOPE_PARAMETER, requested);
  const openid = OPENID_SCOPES.filter((scope) => words.includes(scope));
  parameters.set("scope", [ALL_SCOPES, ...openid].join(" "));
};

/** Choosing an account is what the sign-in page is for. `none` alone asks for no page and is refused by the provider. */
const narrowPrompt = (parameters: URLSearchParams): void => {
  const words = split(parameters.get("prompt"));
  const known = ["login", "consent"].filter(
    (prompt) => words.includes(prompt) || (prompt === "login" && words.includes("select_account")),
  );
  const prompts = known.length === 0 && words.includes("none") ? ["none"] : known;
  if (prompts.length === 0) parameters.delete("prompt");
  else parameters.set("prompt", prompts.join(" "));
};

/**
 * Narrows the parameters of an authorization request to what this server offers. Those that decide where a code goes
 * and who can use it are left to the provider's checks.
 */
export const narrowAuthorization = (parameters: URLSearchParams): void => {
  removeRepeated(parameters);
  offerAllScopes(parameters);
  narrowPrompt(parameters);
  for (const name of WITHOUT_EFFECT) parameters.delete(name);
  // Without it there is no ID token that could contain it.
  if (!split(parameters.get("scope")).includes("openid")) parameters.delete("nonce");
  if (!RESPONSE_MODES.includes(parameters.get("response_mode") ?? "")) {
    parameters.delete("response_mode");
  }
  const types = split(parameters.get("response_type"));
  if (types.length > 0) parameters.set("response_type", types.join(" "));
};
