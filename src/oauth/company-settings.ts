import type { Secret } from "../kit/secret.ts";

/** The company's OpenID provider, as the settings name it. */
export type CompanySettings = {
  issuer: string;
  clientId: string;
  clientSecret: Secret;
  fetch: typeof globalThis.fetch;
};
