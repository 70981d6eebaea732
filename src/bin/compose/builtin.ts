import type { Origins } from "../../broker/credentials.ts";
import { Problem } from "../../contract/errors.ts";
import { createBriefCache } from "../../mcp/http/brief-cache.ts";
import { HOUR, SECOND, systemClock } from "../../kit/clock.ts";
import { createOriginCheck } from "../../kit/cors.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { isLoopback, createNetworks } from "../../kit/network.ts";
import { createResolve } from "../../kit/resolve.ts";
import type { Secret } from "../../kit/secret.ts";
import { type Bearer, createBearerGate, type Verify } from "../../mcp/http/bearer.ts";
import { deriveCallerId } from "../../mcp/caller.ts";
import { findKeyHolders } from "../../mcp/http/gate.ts";
import type { AuthorizationServer, AuthorizationServerNeeds } from "../../oauth/server.ts";
import { type Identity, openSealingKey, type Shared } from "./compose.ts";
import type { Config } from "../../config/config.ts";
import { checkDirectory, openDirectory } from "./directory.ts";
import type { Entrance } from "./entrance.ts";
import { namePlatform, readBrand } from "./operator.ts";
import { openExportKeys } from "../../config/export-keys-file.ts";
import { withProfile } from "./profile.ts";
import type { Address } from "../../server/serve.ts";

const LOOPBACK = ["127.0.0.0/8", "::1"];

/** Requires TLS or loopback, because people send their passwords to this server. */
const checkAddress = ({ publicUrl }: Config, { host }: Address): void => {
  const url = publicUrl === undefined ? undefined : new URL(publicUrl);
  if (url === undefined && isLoopback(host)) return;
  if (url?.protocol === "https:" || (url !== undefined && isLoopback(url.hostname))) return;
  throw new Problem(
    "invalid_request",
    "RECEIVABLES_HTTP_AUTH=builtin asks people for their passwords, so it needs TLS: set RECEIVABLES_PUBLIC_URL=https://…, the address of a proxy with a certificate in front of this server.",
  );
};

const cleanHourly = (server: AuthorizationServer, log: Log): (() => void) => {
  const clean = (): void =>
    void server.purge().catch((error: unknown) => log.warn("oauth.clean", toErrorFields(error)));
  const timer = setInterval(clean, HOUR).unref();
  clean();
  return () => clearInterval(timer);
};

/** The settings that are read at the start, so that a fault stops it. */
type SignInSettings = Pick<AuthorizationServerNeeds, "identityProviders">;

/** Reads the settings of sign-in without a password. @throws {Problem} invalid_request */
const openSignInSettings = async ({ config, log }: Shared): Promise<SignInSettings> => {
  await checkDirectory(config);
  const { identityProvidersFile } = config.http;
  if (identityProvidersFile === undefined) return {};
  const { openIdentityProviders } = await import("../../config/identity-providers-file.ts");
  return { identityProviders: await openIdentityProviders(identityProvidersFile, log) };
};

const createServerAt = async (
  shared: Shared,
  { host }: Address,
  resource: URL,
  { identityProviders }: SignInSettings,
): Promise<AuthorizationServer> => {
  // Loaded only when the built-in sign-in is enabled.
  const { createAuthorizationServer } = await import("../../oauth/server.ts");
  const { createAddressOf } = await import("../../platform/http/address.ts");
  const { log } = shared;
  const config = await withProfile(shared.config);
  const issuer = resource.href.replace(/\/mcp$/, "");
  const isAlone = isLoopback(host) && isLoopback(resource.hostname);
  return createAuthorizationServer({
    issuer,
    resource: resource.href,
    storage: await shared.oauthStorage(),
    masterKey: await shared.masterKey(),
    client: shared.clientOf(config),
    headerWord: config.headerWord,
    platform: config.remote?.gateway ?? "embedded",
    platformName: config.operator.name ?? namePlatform(new URL(config.remote?.gateway ?? issuer)),
    brand: readBrand(config),
    tenantId: config.tenantId,
    registration: config.http.registration,
    // A client metadata document on a loopback address is accepted only if the server itself is local.
    hosts: { resolve: createResolve(), allowed: createNetworks(isAlone ? LOOPBACK : []) },
    isOrigin: createOriginCheck([...(config.http.origins ?? []), issuer]),
    directory: await openDirectory(shared, config.remote),
    identityProviders,
    companySettings: config.http.company && { ...config.http.company, fetch },
    passwords: config.http.passwords,
    addressOf: createAddressOf(config.trustedProxies),
    now: systemClock,
    log,
  });
};

type ExportKeyOf = (personId: string, tenantId: string) => Promise<Secret | undefined>;

/** Creates the lookup of the key that a person's role may use. @throws {Problem} if the role cannot be read */
const createExportKeyOf = async (
  server: Promise<AuthorizationServer>,
  { config, log }: Shared,
): Promise<ExportKeyOf> => {
  const keys = await openExportKeys(config.http.exportKeysFile, log);
  const load = async (personId: string) => (await server).readRole(personId);
  const roleOf = createBriefCache({ load, ms: SECOND, now: systemClock });
  return async (personId, tenantId) => {
    const key = (await keys()).get(tenantId);
    if (key === undefined) return undefined;
    return key.roles.includes((await roleOf(personId)) ?? "") ? key.apiKey : undefined;
  };
};

/** Creates the check of whether a person has a key; a role that cannot be read counts as one, so that a call says why. */
const createKeyCheck =
  (server: Promise<AuthorizationServer>, exportKeyOf: ExportKeyOf) =>
  async (personId: string): Promise<boolean> => {
    try {
      const person = await (await server).findCredential(personId);
      return person !== undefined && (await exportKeyOf(personId, person.tenantId)) !== undefined;
    } catch {
      return true;
    }
  };

/** The credentials of people who signed in. */
const ORIGINS: Origins = {
  apiKey: { name: "your sign-in", remedy: "Connect again to sign in." },
  password: { name: "your sign-in", remedy: "Connect again to sign in." },
  extApiKey: {
    name: "the tenant's key in RECEIVABLES_EXT_API_KEYS_FILE",
    remedy: "The operator of this server replaces the key; `doctor` names it.",
  },
};

const createIdentityOf =
  (server: Promise<AuthorizationServer>, exportKeyOf: ExportKeyOf) =>
  async (personId: string): Promise<Identity> => {
    const ended = (): Problem =>
      new Problem("unauthenticated", "Your access has ended. Connect again to sign in.");
    // Read for each call, so that a key that was replaced or ended is not used any more.
    const find = async () => {
      const found = await (await server).findCredential(personId);
      if (found !== undefined) return found;
      throw ended();
    };
    const { email, tenantId } = await find();
    const credentials = async () => {
      const { apiKey } = await find();
      return { email, apiKey, extApiKey: await exportKeyOf(personId, tenantId) };
    };
    const refused = async () =>
      (await (await server).revokeIfKeyInvalid(personId)) ? ended() : undefined;
    return { tenantId, principal: email.toLowerCase(), credentials, refused, origins: ORIGINS };
  };

/** Creates the check of access tokens. */
const createVerify =
  (server: Promise<AuthorizationServer>, key: Buffer): Verify =>
  async (token): Promise<Bearer | "invalid"> => {
    const bearer = await (await server).verifyToken(token);
    if (bearer === undefined) return "invalid";
    const { personId, clientId, grantId, scopes, expiresAt } = bearer;
    return {
      id: deriveCallerId(key, "person", personId),
      client: deriveCallerId(key, "client", clientId),
      grant: deriveCallerId(key, "grant", grantId),
      profile: personId,
      scopes,
      expiresAt,
    };
  };

const createApprovalsOf =
  (server: Promise<AuthorizationServer>): NonNullable<Entrance["approvalsOf"]> =>
  (personId) => ({
    open: async (question) => (await server).openApproval({ ...question, personId }),
    decisionOf: async (id) => (await server).findDecision({ id, personId }),
  });

/** Opens the built-in sign-in: people sign in on pages of this server with their accounts on the platform. */
export const openBuiltinEntrance = async (shared: Shared, address: Address): Promise<Entrance> => {
  checkAddress(shared.config, address);
  // A wrong logo stops the start.
  readBrand(shared.config);
  const settings = await openSignInSettings(shared);
  const key = await openSealingKey(shared);
  const { promise: server, resolve: isMade } = Promise.withResolvers<AuthorizationServer>();
  const exportKeyOf = await createExportKeyOf(server, shared);
  const cleaning = server.then(
    (made) => cleanHourly(made, shared.log),
    (error: unknown) => {
      shared.log.error("oauth.unavailable", toErrorFields(error));
      return () => {};
    },
  );

  const callerOf = (personId: string): string => deriveCallerId(key, "person", personId);
  const verify = createVerify(server, key);

  return {
    auth: "builtin",
    gateAt(resource) {
      isMade(createServerAt(shared, address, resource, settings));
      const issuers = [resource.href.replace(/\/mcp$/, "")];
      const gate = createBearerGate({
        verify,
        resource,
        issuers,
        now: systemClock,
        log: shared.log,
      });
      if (shared.config.http.exportKeysFile === undefined) return gate;
      const load = createKeyCheck(server, exportKeyOf);
      return findKeyHolders(gate, createBriefCache({ load, ms: SECOND, now: systemClock }));
    },
    identityOf: createIdentityOf(server, exportKeyOf),
    approvalsOf: createApprovalsOf(server),
    signIn: {
      isPath: (path) =>
        path.startsWith("/oauth/") ||
        /^\/\.well-known\/(oauth-authorization-server|openid-configuration)(\/|$)/.test(path),
      listener: async (incoming, response) => (await server).handle(incoming, response),
    },
    keyMaker:
      (incoming) =>
      async (person, { caller, claim }) => {
        const isFor = (personId: string): boolean => callerOf(personId) === caller;
        return (await server).createOwnKey(incoming, { ...person, isFor, claim });
      },
    close: async () => (await cleaning)(),
  };
};
