import type { EventEmitter } from "node:events";
import { createPrivateKey, type JsonWebKey } from "node:crypto";
import type Provider from "oidc-provider";
import {
  type ClientMetadata,
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
} from "oidc-provider";
import { SECOND } from "../kit/clock.ts";
import { SIGNING_ALGORITHMS } from "../kit/issuers.ts";
import { createLazy } from "../kit/lazily.ts";
import { toErrorFields } from "../kit/log.ts";
import { keysFor, type MasterKey } from "../kit/seal.ts";
import { createAdapter } from "./adapter.ts";
import { checkClient, isNativeRedirect, narrowDocument } from "./clients.ts";
import { createClientCredentialsHandler } from "./client-credentials.ts";
import { createPageClient } from "./page-client.ts";
import type { OauthContext } from "./context.ts";
import {
  CLOCK_TOLERANCE_SECONDS,
  compareHashedSecrets,
  CREDENTIAL_VERSION,
  createAssertionCheck,
  guardReplays,
} from "./directory-clients.ts";
import { addCredentialVersion, toHref } from "./direct-tokens.ts";
import { createBoundedFetch, createFetchDocument } from "./documents.ts";
import { CLIENT_CREDENTIALS, ID_JAG_PROFILE, JWT_BEARER } from "./grant-types.ts";
import { LIFETIMES } from "./lifetimes.ts";
import { type Brand, type Page, renderPage } from "../pages/page.ts";
import { findPerson } from "./people.ts";
import { ALL_SCOPES, parseScopes, REQUESTED_SCOPE_PARAMETER } from "./scopes.ts";
import { NarrowingProvider } from "./token-request.ts";
import { errorPage, refusedRequestPage } from "./sign-in-pages.ts";

/** The paths that the provider serves. */
const ROUTES = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  revocation: "/oauth/revoke",
  registration: "/oauth/register",
  jwks: "/oauth/jwks",
} as const;

export const PATHS = {
  ...ROUTES,
  signIn: "/oauth/sign-in",
  account: "/oauth/account",
} as const;

export const METADATA_PATHS = [
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
];

/** Cookies between this server and its embedded provider; they are not sent to browsers. */
export const PROVIDER_COOKIES = {
  session: "session",
  interaction: "interaction",
  resume: "resume",
};

type ClientAuthAlgorithms = NonNullable<
  NonNullable<Configuration["enabledJWA"]>["clientAuthSigningAlgValues"]
>;

const toSeconds = (ms: number): number => ms / SECOND;

const withoutSlash = (url: string): string => url.replace(/\/$/, "");

// Each authorization requires sign-in and consent: any program can use the client id of a loopback client.
const createPolicy = (): interactionPolicy.Prompt[] => {
  const { Check, Prompt } = interactionPolicy;
  return (["login", "consent"] as const).map(
    (name) =>
      new Prompt(
        { name, requestable: true },
        new Check(`${name}_due`, `${name} is due`, ({ oidc }) => oidc.result?.[name] === undefined),
      ),
  );
};

const createFeatures = ({
  registration,
  resource,
  resourceAliases,
}: OauthContext): NonNullable<Configuration["features"]> => ({
  devInteractions: { enabled: false },
  userinfo: { enabled: false },
  rpInitiatedLogout: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  dPoP: { enabled: false },
  revocation: {
    enabled: true,
    allowedPolicy: (_context, client, token) => token.clientId === client.clientId,
  },
  registration: {
    enabled: registration,
    issueRegistrationAccessToken: false,
  },
  clientIdMetadataDocument: { enabled: true, ack: "draft-02" },
  resourceIndicators: {
    enabled: true,
    defaultResource: () => resource,
    useGrantedResource: () => true,
    getResourceServerInfo(_context, requested) {
      if (!resourceAliases.includes(toHref(requested))) throw new errors.InvalidTarget();
      return {
        scope: ALL_SCOPES,
        audience: resource,
        accessTokenFormat: "opaque",
        accessTokenTTL: toSeconds(LIFETIMES.accessToken),
      };
    },
  },
});

const createClientRules = (context: OauthContext): Partial<Configuration> => ({
  // Only clients that an administrator created have a credential.
  clientAuthMethods:
    context.directory === undefined ? ["none"] : ["none", "private_key_jwt", "client_secret_basic"],
  clockTolerance: CLOCK_TOLERANCE_SECONDS,
  assertJwtClientAuthClaimsAndHeader: createAssertionCheck(context),
  clientDefaults: {
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    id_token_signed_response_alg: "EdDSA",
  },
  extraClientMetadata: {
    // The validator runs for each listed property, and checks all metadata.
    properties: ["software_id", CREDENTIAL_VERSION],
    validator: (_context, _name, _value, metadata: ClientMetadata) =>
      checkClient(metadata, context.identityProviders !== undefined),
  },
});

const ttl: Configuration["ttl"] = {
  AccessToken: toSeconds(LIFETIMES.accessToken),
  AuthorizationCode: toSeconds(LIFETIMES.code),
  RefreshToken: toSeconds(LIFETIMES.refreshToken),
  Grant: toSeconds(LIFETIMES.grant),
  Interaction: toSeconds(LIFETIMES.interaction),
  Session: toSeconds(LIFETIMES.interaction),
  IdToken: toSeconds(LIFETIMES.accessToken),
};

// RFC 8410: the PKCS #8 prefix of an Ed25519 key of 32 bytes.
const ED25519_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

const toSigningKey = (seed: Buffer): JsonWebKey => {
  const der = Buffer.concat([ED25519_PREFIX, seed]);
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" }).export({ format: "jwk" });
};

/**
 * Derives the provider's keys from the master key, so that all processes share them. The first one signs; the others
 * verify what former master keys signed.
 */
const deriveSigningKeys = (masterKey: MasterKey): JsonWebKey[] =>
  keysFor(masterKey, "oauth-signing").map(toSigningKey);

const UNKNOWN_CLIENT =
  "This server does not know the program that sent you here. Remove the server from the program, then add it again.";

/** Answers a request with a page. */
export const setPage = (
  context: Pick<KoaContextWithOIDC, "set" | "status" | "body">,
  page: Page,
  brand: Brand | undefined,
): void => {
  const { status, headers, body } = renderPage(page, brand);
  context.set(headers);
  context.status = status;
  context.body = body;
};

const createRenderError =
  (brand: Brand | undefined): Configuration["renderError"] =>
  (context, { error, error_description: why }) => {
    const message = why === "client is invalid" ? UNKNOWN_CLIENT : (why ?? error);
    setPage(context, errorPage(`${message} (${error})`, context.status), brand);
  };

const createConfiguration = (context: OauthContext): Configuration => {
  const { masterKey, issuer, interactions, hosts, ca, now } = context;
  const fetchDocument = createFetchDocument(ca === undefined ? { hosts } : { hosts, ca });
  const boundedFetch = createBoundedFetch(fetchDocument, now);
  // The server replaces the provider's cookies in requests and responses.
  const cookie = { signed: false } as const;
  return {
    adapter: createAdapter(context, LIFETIMES.grant),
    clients: [createPageClient(withoutSlash(issuer))],
    jwks: { keys: deriveSigningKeys(masterKey) },
    enabledJWA: {
      idTokenSigningAlgValues: ["EdDSA"],
      clientAuthSigningAlgValues: [...SIGNING_ALGORITHMS] as ClientAuthAlgorithms,
    },
    responseTypes: ["code"],
    scopes: [...ALL_SCOPES.split(" "), "offline_access"],
    extraParams: [REQUESTED_SCOPE_PARAMETER],
    routes: ROUTES,
    cookies: { names: PROVIDER_COOKIES, long: cookie, short: cookie },
    ...createClientRules(context),
    clientBasedCORS: (_context, origin, client) =>
      (client.redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin),
    features: createFeatures(context),
    fetch: async (url) =>
      narrowDocument(
        await boundedFetch(url as string | URL),
        context.identityProviders !== undefined,
      ),
    findAccount: async (_context, id) =>
      (await findPerson(context, id)) && { accountId: id, claims: async () => ({ sub: id }) },
    interactions: {
      policy: createPolicy(),
      url: () => `${withoutSlash(issuer)}${PATHS.signIn}/${interactions.seal()}`,
    },
    // Each consent creates its own grant, so that each program can be disconnected separately.
    loadExistingGrant: async ({ oidc }) => {
      const id = oidc.result?.consent?.grantId;
      return id === undefined ? undefined : oidc.provider.Grant.find(id);
    },
    extraTokenClaims: addCredentialVersion,
    expiresWithSession: () => false,
    issueRefreshToken: (_context, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    revokeGrantPolicy: () => true,
    pkce: { required: () => true },
    ttl,
    renderError: createRenderError(context.brand),
  };
};

/**
 * Makes the metadata list the scopes of the consent page, without the provider's own ones such as `openid`, and the
 * profile of the assertions that are accepted.
 */
const correctMetadata = (provider: Provider, { identityProviders }: OauthContext): void => {
  provider.use(async (context, next) => {
    await next();
    const { body } = context;
    if (typeof body !== "object" || body === null || !("scopes_supported" in body)) return;
    body.scopes_supported = [...parseScopes(ALL_SCOPES), "offline_access"];
    if (identityProviders === undefined) return;
    Object.assign(body, { authorization_grant_profiles_supported: [ID_JAG_PROFILE] });
  });
};

/** Adds the grants without a browser, where the platform's people and clients can be read. */
const addGrants = (provider: Provider, context: OauthContext): void => {
  const { directory } = context;
  if (directory === undefined) return;
  compareHashedSecrets(provider);
  guardReplays(provider, context);
  const tokenContext = { ...context, provider };
  const parameters = ["scope", "resource"];
  const handleClient = createClientCredentialsHandler(tokenContext, directory);
  provider.registerGrantType(CLIENT_CREDENTIALS, handleClient, parameters, ["resource"]);
  if (context.identityProviders === undefined) return;
  const handleAssertion = createLazy(async () => {
    const { createAssertionHandler } = await import("./identity-assertions.ts");
    return createAssertionHandler(tokenContext, directory);
  });
  provider.registerGrantType(
    JWT_BEARER,
    async (exchange) => (await handleAssertion())(exchange),
    ["assertion", ...parameters],
    ["resource"],
  );
};

/** Whether a redirect leads to this server, or to a program on the person's own computer. */
const isTrusted = (url: URL, issuer: string): boolean =>
  url.origin === new URL(issuer).origin || isNativeRedirect(url);

/**
 * Shows errors of authorization requests on a page instead of redirecting to a site that registered itself: before the
 * person has signed in, such a redirect would lead from an address of this server to any other (RFC 9700, section
 * 4.11.2). What the person decides later goes to the client as usual.
 */
const keepErrorsHere = (provider: Provider, { issuer, brand }: OauthContext): void => {
  const refusals = new WeakMap<object, errors.OIDCProviderError>();
  provider.on("authorization.error", (context, error) => void refusals.set(context, error));
  provider.use(async (context, next) => {
    await next();
    const refusal = refusals.get(context);
    if (context.path !== PATHS.authorization || refusal?.allow_redirect !== true) return;
    const { redirect_uri: registered } = context.query;
    // A form that submits itself has no location.
    const answer = context.response.get("location");
    const to = URL.parse(answer || String(registered));
    if (to === null || isTrusted(to, issuer)) return;
    context.remove("location");
    const { error, error_description: why = error } = refusal;
    setPage(context, refusedRequestPage(`${why} (${error})`, to), brand);
  });
};

/**
 * Creates the protocol endpoints: authorization codes with PKCE for public clients, and tokens for clients of
 * administrators. Tokens are opaque and for one resource.
 */
export const createProvider = (context: OauthContext): Provider => {
  const provider = new NarrowingProvider(context.issuer, createConfiguration(context));
  provider.resourceAliases = context.resourceAliases;
  // The server sets the X-Forwarded headers itself.
  provider.proxy = true;
  const logError = (error: unknown): void =>
    context.log.error("oauth.failed", toErrorFields(error));
  provider.on("server_error", (_context, error) => logError(error));
  // Of the middleware around the provider; without a listener, it would print stacks.
  const emitter: EventEmitter = provider;
  emitter.on("error", logError);
  addGrants(provider, context);
  correctMetadata(provider, context);
  keepErrorsHere(provider, context);
  return provider;
};
