/** An identity provider of the company whose assertions about people are accepted. */
export type IdentityProvider = {
  issuer: string;
  /** Audiences (`aud`) that are accepted; this server's issuer identifier by default. */
  audience: string | undefined;
  /** The claim with the person's e-mail address. */
  claim: string;
  /** The ids of the clients that may present its assertions; undefined for all. */
  clients: readonly string[] | undefined;
  /** `claim`: `email_verified` must be true; `always`: the provider asserts verified addresses only. */
  emailVerified: "claim" | "always";
};
