import Provider, {
  type ClientMetadata,
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
} from "oidc-provider";
import { DAY, HOUR, MINUTE, SECOND } from "../kit/clock.ts";
import { createAdapter, type AdapterNeeds } from "./adapter.ts";
import { checkClient } from "./clients.ts";
import type { FetchDocument } from "./documents.ts";
import { providerSigningKey } from "./keys.ts";
import type { People } from "./people.ts";
import { ASKED, EVERY_SCOPE } from "./scopes.ts";

/** How long things are good, in milliseconds. */
export const LIVES = {
  accessToken: HOUR,
  /** Of a refresh token that is not used; each use gives a new one. */
  refreshToken: 30 * DAY,
  /** After which a person signs in again. */
  grant: 90 * DAY,
  /** From the client's request to the person's answer. */
  interaction: 15 * MINUTE,
  code: MINUTE,
};

export const PATHS = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  revocation: "/oauth/revoke",
  registration: "/oauth/register",
  jwks: "/oauth/jwks",
  signIn: "/oauth/sign-in",
  account: "/oauth/account",
} as const;

/** Cookies between this server and the provider within it; no browser sees them. */
export const PROVIDER_COOKIES = {
  session: "session",
  interaction: "interaction",
  resume: "resume",
};

export type ProviderNeeds = Omit<AdapterNeeds, "clientMs"> & {
  issuer: string;
  /** The one resource that tokens are for. */
  resource: string;
  masterKey: Buffer;
  people: People;
  fetchDocument: FetchDocument;
  /** Whether clients may register themselves. */
  registration: boolean;
  showError(context: KoaContextWithOIDC, code: string, message: string): void;
};

const seconds = (ms: number): number => ms / SECOND;

const withoutSlash = (url: string): string => url.replace(/\/$/, "");

// Whoever asks is asked to sign in and to allow, each time: a client on loopback could be any program.
const policy = (): interactionPolicy.Prompt[] => {
  const { Check, Prompt } = interactionPolicy;
  const asks = (name: "login" | "consent") =>
    new Prompt(
      { name, requestable: true },
      new Check(`${name}_due`, `${name} is due`, ({ oidc }) => oidc.result?.[name] === undefined),
    );
  return [asks("login"), asks("consent")];
};

const features = (needs: ProviderNeeds): NonNullable<Configuration["features"]> => ({
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
    enabled: needs.registration,
    issueRegistrationAccessToken: false,
  },
  clientIdMetadataDocument: { enabled: true, ack: "draft-02" },
  resourceIndicators: {
    enabled: true,
    defaultResource: () => needs.resource,
    useGrantedResource: () => true,
    getResourceServerInfo(_context, asked) {
      if (withoutSlash(asked) !== needs.resource) throw new errors.InvalidTarget();
      return {
        scope: EVERY_SCOPE,
        audience: needs.resource,
        accessTokenFormat: "opaque",
        accessTokenTTL: seconds(LIVES.accessToken),
      };
    },
  },
});

const clientRules: Partial<Configuration> = {
  clientAuthMethods: ["none"],
  clientDefaults: {
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    id_token_signed_response_alg: "EdDSA",
  },
  extraClientMetadata: {
    // Of all metadata one member is enough: the rules look at the others through it.
    properties: ["software_id"],
    validator: (_context, _name, _value, metadata: ClientMetadata) => checkClient(metadata),
  },
};

const lives: Configuration["ttl"] = {
  AccessToken: seconds(LIVES.accessToken),
  AuthorizationCode: seconds(LIVES.code),
  RefreshToken: seconds(LIVES.refreshToken),
  Grant: seconds(LIVES.grant),
  Interaction: seconds(LIVES.interaction),
  Session: seconds(LIVES.interaction),
  IdToken: seconds(LIVES.accessToken),
};

const configuration = (needs: ProviderNeeds): Configuration => {
  const { masterKey, people, fetchDocument, issuer, interactions } = needs;
  // The server replaces the provider's cookies on their way, in both directions.
  const cookie = { signed: false } as const;
  return {
    adapter: createAdapter({ ...needs, clientMs: LIVES.grant }),
    jwks: { keys: [providerSigningKey(masterKey)] },
    enabledJWA: { idTokenSigningAlgValues: ["EdDSA"] },
    responseTypes: ["code"],
    scopes: [...EVERY_SCOPE.split(" "), "offline_access"],
    extraParams: [ASKED],
    routes: {
      authorization: PATHS.authorization,
      token: PATHS.token,
      revocation: PATHS.revocation,
      registration: PATHS.registration,
      jwks: PATHS.jwks,
    },
    cookies: {
      names: PROVIDER_COOKIES,
      long: cookie,
      short: cookie,
    },
    ...clientRules,
    clientBasedCORS: (_context, origin, client) =>
      (client.redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin),
    features: features(needs),
    fetch: (url) => fetchDocument(url as string | URL),
    findAccount: async (_context, id) =>
      (await people.find(id)) && { accountId: id, claims: async () => ({ sub: id }) },
    interactions: {
      policy: policy(),
      url: () => `${withoutSlash(issuer)}${PATHS.signIn}/${interactions.part()}`,
    },
    // Each consent is a grant of its own, so that each program can be let go alone.
    loadExistingGrant: async ({ oidc }) => {
      const id = oidc.result?.consent?.grantId;
      return id === undefined ? undefined : oidc.provider.Grant.find(id);
    },
    expiresWithSession: () => false,
    issueRefreshToken: (_context, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    revokeGrantPolicy: () => true,
    pkce: { required: () => true },
    ttl: lives,
    renderError: (context, { error, error_description: why }) =>
      needs.showError(context, error, why ?? error),
  };
};

/** The authorization server proper: codes with PKCE for public clients, opaque tokens, for one resource. */
export const createProvider = (needs: ProviderNeeds): Provider => {
  const provider = new Provider(needs.issuer, configuration(needs));
  // What the request says of its own address was put there by this server.
  provider.proxy = true;
  return provider;
};
