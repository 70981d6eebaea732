/** An identity provider of the company whose assertions about people are accepted. */
export type IdentityProvider = {
  issuer: string;
  /** The audience (`aud`) of its assertions; this server's issuer identifier by default. */
  audience?: string | undefined;
  /** The claim with the person's e-mail address. */
  claim: string;
  /** The ids of the clients that may present its assertions. */
  clients: readonly string[];
  /** `claim`: `email_verified` must be true; `always`: the provider names verified addresses only. */
  emailVerified: "claim" | "always";
};

/** Returns the identity providers as they are configured now. */
export type ReadIdentityProviders = () => Promise<readonly IdentityProvider[]>;
