/** Asymmetric signatures of JWTs only: neither `none` nor a shared secret (RFC 8725, section 3.1). */
export const SIGNING_ALGORITHMS: readonly string[] =
  "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" ");

/** Returns the URLs of an issuer's metadata by RFC 8414 and by OpenID Connect Discovery. */
export const listMetadataUrls = (issuer: string): string[] => {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const [oauth, openid] = ["oauth-authorization-server", "openid-configuration"] as const;
  return [
    ...new Set([
      `${origin}/.well-known/${oauth}${path}`,
      `${origin}/.well-known/${openid}${path}`,
      `${origin}${path}/.well-known/${openid}`,
    ]),
  ];
};
