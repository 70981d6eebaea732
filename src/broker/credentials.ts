import { hash } from "node:crypto";
import type { CredentialHeaders } from "../client/port.ts";
import type { Credentials } from "../config/settings.ts";
import { Problem } from "../contract/errors.ts";
import type { Secret } from "../kit/secret.ts";

export type LoginCredentials = { email: string; password: Secret };

export const toLogin = ({ email, password }: Credentials): LoginCredentials | undefined =>
  email === undefined || password === undefined ? undefined : { email, password };

export const keyHeader = (word: string, key: Secret): CredentialHeaders => ({
  [`x-${word}-api-key`]: key.reveal(),
});

export const sessionHeader = (word: string, token: Secret): CredentialHeaders => ({
  [`x-${word}-auth`]: token.reveal(),
});

export const exportHeader = (key: Secret): CredentialHeaders => ({ "x-api-key": key.reveal() });

/** The name of a credential in a refusal, and what the person can do about it. */
export type Origin = { name: string; remedy: string };
export type Origins = Readonly<Record<"apiKey" | "extApiKey" | "password", Origin>>;

/** The origins of credentials that settings name. */
export const SETTING_ORIGINS: Origins = {
  apiKey: {
    name: "the key in RECEIVABLES_API_KEY",
    remedy:
      "Set RECEIVABLES_API_KEY (or its _FILE) to a new key: this one was revoked, has expired, or ended when its owner changed the password.",
  },
  extApiKey: {
    name: "the key in RECEIVABLES_EXT_API_KEY",
    remedy:
      "Set RECEIVABLES_EXT_API_KEY (or its _FILE) to a key of the platform's operator, who makes one with `admin key issue`.",
  },
  password: {
    name: "the password in RECEIVABLES_PASSWORD",
    remedy: "Correct RECEIVABLES_EMAIL and RECEIVABLES_PASSWORD (or its _FILE).",
  },
};

/** The origins of credentials that `login` stored in a profile. */
export const createProfileOrigins = (profile: string): Origins => {
  const login = profile === "default" ? "login" : `login --profile ${profile}`;
  const again = `Sign in again with the command \`${login}\``;
  return {
    apiKey: {
      name: `the API key of the profile ${profile}`,
      remedy: `${again}: the key was revoked, has expired, or ended when its owner changed the password.`,
    },
    extApiKey: {
      name: `the export key of the profile ${profile}`,
      remedy: `${again}, with a new key of the platform's operator in RECEIVABLES_EXT_API_KEY_FILE.`,
    },
    password: {
      name: `the password of the profile ${profile}`,
      remedy: `${again} and \`--keep-password\`: the stored password is no longer right.`,
    },
  };
};

/** Derives a stable name of the credentials' owner. A key is 256 random bits, so its hash does not reveal it. */
export const derivePrincipal = ({ email, apiKey, extApiKey }: Credentials): string => {
  if (email !== undefined) return email.toLowerCase();
  const key = apiKey ?? extApiKey;
  if (key === undefined) return "nobody";
  return `key:${hash("sha256", key.reveal(), "base64url").slice(0, 22)}`;
};

const missing = (message: string) => (): Problem =>
  new Problem("unauthenticated", message, { unconfigured: true });

const LOGIN = "RECEIVABLES_EMAIL and RECEIVABLES_PASSWORD (or RECEIVABLES_PASSWORD_FILE)";

const LOGIN_OR_PROFILE = `set ${LOGIN}, or store the password in the profile with "login --keep-password"`;

/** Refusals that name the setting to set. */
export const MISSING = {
  gateway: missing(
    `No credential for the platform is configured: sign in with the command login, set RECEIVABLES_API_KEY (or RECEIVABLES_API_KEY_FILE), or ${LOGIN}.`,
  ),
  export: missing(
    "You have no key for the export and ingest services. The operator of this server sets RECEIVABLES_EXT_API_KEY (or RECEIVABLES_EXT_API_KEY_FILE) or the profile's extApiKey; for people who sign in, RECEIVABLES_EXT_API_KEYS_FILE names their role.",
  ),
  session: missing(`There is nothing to open a session with: ${LOGIN_OR_PROFILE}.`),
  keyMaker: missing(`An API key cannot create API keys, only a login can: ${LOGIN_OR_PROFILE}.`),
  tenant: missing("No tenant is configured: set RECEIVABLES_TENANT_ID."),
};
