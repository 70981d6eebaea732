/** Requests to the company's OpenID provider. The library is loaded at the first of them. */
import type { Configuration } from "openid-client";
import { randomToken } from "../kit/ids.ts";
import { isGuarded } from "../kit/network.ts";
import type { CompanySettings } from "./company-settings.ts";

/** Values that bind the provider's answer to browser and request (RFC 6749, RFC 7636, OpenID Connect). */
export type Proof = { state: string; nonce: string; verifier: string };

/** Reads the provider's metadata, and has signatures of ID tokens verified. */
export const discover = async (settings: CompanySettings): Promise<Configuration> => {
  const client = await import("openid-client");
  const { issuer, clientId, clientSecret, fetch } = settings;
  const isPlain = issuer.startsWith("http:");
  const found = await client.discovery(
    new URL(issuer),
    clientId,
    clientSecret.reveal(),
    undefined,
    {
      execute: [
        client.enableNonRepudiationChecks,
        // The settings accept http on this machine only.
        ...(isPlain ? [client.allowInsecureRequests] : []),
      ],
      [client.customFetch]: fetch as never,
    },
  );
  const { authorization_endpoint = "", token_endpoint = "" } = found.serverMetadata();
  if ([authorization_endpoint, token_endpoint].every(isGuarded)) return found;
  throw new Error(`${issuer} names an address without TLS`);
};

/** Reads the verified e-mail address of the person who came back, from the ID token or the userinfo endpoint. */
export const readEmail = async (
  config: Configuration,
  currentUrl: URL,
  { state, nonce, verifier }: Proof,
): Promise<{ email: string } | "unverified"> => {
  const client = await import("openid-client");
  const tokens = await client.authorizationCodeGrant(config, currentUrl, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (claims === undefined) throw new Error("the provider sent no ID token");
  const hasEmail = claims["email"] !== undefined;
  const hasUserinfo = config.serverMetadata().userinfo_endpoint !== undefined;
  const facts =
    hasEmail || !hasUserinfo
      ? claims
      : await client.fetchUserInfo(config, tokens.access_token, claims.sub);
  const { email, email_verified } = facts;
  return typeof email === "string" && email_verified === true ? { email } : "unverified";
};

/** Returns the address to which a browser is sent to sign in. */
export const buildAddress = async (
  config: Configuration,
  redirectUri: string,
  { state, nonce, verifier }: Proof,
): Promise<URL> => {
  const client = await import("openid-client");
  return client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: "openid email",
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
};

/** The refusal of a provider: of the authorization request (client or redirect address), or of the client's secret. */
export type ClientFault = { of: "request" | "secret"; why: string };

/** Errors of the token endpoint that mean the client, not the code (RFC 6749, section 5.2). */
const OF_CLIENT: readonly unknown[] = ["invalid_client", "unauthorized_client"];

/**
 * Tests this server's client at the company's provider with a sign-in that is not finished, and with a code that does not
 * exist. Returns the refusal; undefined if the provider accepts client, secret and redirect address.
 *
 * @throws {Error} if it does not answer
 */
export const checkCompanyClient = async (
  settings: CompanySettings,
  redirectUri: string,
): Promise<ClientFault | undefined> => {
  const client = await import("openid-client");
  const config = await discover(settings);
  const verifier = randomToken();
  const proof = { state: randomToken(), nonce: randomToken(), verifier };
  const address = await buildAddress(config, redirectUri, proof);
  const answer = await settings.fetch(address, { redirect: "manual" });
  await answer.body?.cancel();
  const error = URL.parse(answer.headers.get("location") ?? "", address.href)?.searchParams.get(
    "error",
  );
  if (answer.status >= 400 || (error !== null && error !== undefined)) {
    return { of: "request", why: error ?? String(answer.status) };
  }
  const code = { code: randomToken(), redirect_uri: redirectUri, code_verifier: verifier };
  try {
    await client.genericGrantRequest(config, "authorization_code", code);
  } catch (refusal) {
    if (refusal instanceof client.WWWAuthenticateChallengeError) {
      return { of: "secret", why: String(refusal.status) };
    }
    if (!(refusal instanceof client.ResponseBodyError)) throw refusal;
    if (OF_CLIENT.includes(refusal.error)) return { of: "secret", why: refusal.error };
  }
  return undefined;
};
