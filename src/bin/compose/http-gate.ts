import { Problem } from "../../contract/errors.ts";
import { systemClock } from "../../kit/clock.ts";
import { namesIn } from "../../kit/json.ts";
import { isLoopback } from "../../kit/network.ts";
import { createBearerGate } from "../../mcp/http/bearer.ts";
import { createOpenGate } from "../../mcp/http/gate.ts";
import { createOwnCaller } from "../../mcp/caller.ts";
import { createStaticVerifier } from "../../mcp/http/static-tokens.ts";
import { openBuiltinEntrance } from "./builtin.ts";
import { openSealingKey, type Shared } from "./compose.ts";
import { checkDirectory } from "./directory.ts";
import { openIssuerEntrance } from "./issuer.ts";
import type { Config } from "../../config/config.ts";
import type { Auth, Entrance } from "./entrance.ts";
import { getDataPaths } from "../../config/folder.ts";
import { isProfile, withProfile } from "./profile.ts";
import type { Address } from "../../server/serve.ts";
import { createTokensFile, openTokensFile } from "./tokens-file.ts";

/** Returns whether the server acts for its own demo tenant alone, so that it may be open on loopback. */
const isDemoAlone = ({ remote, tenantId, credentials }: Config): boolean =>
  remote === undefined &&
  (tenantId ?? "demo") === "demo" &&
  [credentials.apiKey, credentials.extApiKey, credentials.email].every((one) => one === undefined);

/** Returns the settings that name callers or a public address: with any of them, the endpoint is not open. */
const listExcluding = ({ http, profilesFile, publicUrl, issuer }: Config): string[] =>
  namesIn({
    RECEIVABLES_HTTP_TOKENS_FILE: http.tokensFile,
    RECEIVABLES_PROFILES_FILE: profilesFile,
    RECEIVABLES_OAUTH_ISSUER: issuer,
    RECEIVABLES_EXT_API_KEYS_FILE: http.exportKeysFile,
    RECEIVABLES_OAUTH_IDENTITY_PROVIDERS_FILE: http.identityProvidersFile,
    RECEIVABLES_SIGN_IN_ISSUER: http.company,
    RECEIVABLES_OAUTH_REGISTRATION: http.registration || undefined,
    RECEIVABLES_PUBLIC_URL: publicUrl,
  });

const chooseAuth = ({ http, issuer }: Config, isOpen: boolean): Auth => {
  if (http.auth !== undefined) return http.auth;
  if (issuer !== undefined) return "issuer";
  return isOpen ? "none" : "static";
};

/** The settings that have an effect with one authentication only. */
const NEEDED_AUTH: Readonly<Record<string, Auth>> = {
  RECEIVABLES_HTTP_TOKENS_FILE: "static",
  RECEIVABLES_OAUTH_ISSUER: "issuer",
  RECEIVABLES_EXT_API_KEYS_FILE: "builtin",
  RECEIVABLES_OAUTH_IDENTITY_PROVIDERS_FILE: "builtin",
  RECEIVABLES_OAUTH_REGISTRATION: "builtin",
  RECEIVABLES_SIGN_IN_ISSUER: "builtin",
};

/** @throws {Problem} invalid_request for a setting without effect */
const checkEffects = (config: Config, auth: Auth): void => {
  for (const name of listExcluding(config)) {
    const needed = NEEDED_AUTH[name];
    if (needed === undefined || needed === auth) continue;
    throw new Problem(
      "invalid_request",
      `${name} has no effect, because callers authenticate by ${auth}. Unset it, or set RECEIVABLES_HTTP_AUTH=${needed}.`,
    );
  }
};

const throwOpenRefused = (settings: readonly string[]): never => {
  const [excluding] = settings;
  throw new Problem(
    "invalid_request",
    excluding !== undefined
      ? `RECEIVABLES_HTTP_AUTH=none gives every client that reaches the port this server's credentials, so it excludes ${excluding}. Unset one of them.`
      : "RECEIVABLES_HTTP_AUTH=none gives every client that reaches the port this server's credentials. It is allowed only for the demo tenant of the embedded platform on loopback. Unset it to use static tokens, or set builtin or issuer.",
  );
};

const openStaticEntrance = async (shared: Shared): Promise<Entrance> => {
  const { config, log } = shared;
  const own = getDataPaths(config.dataFolder).httpTokens;
  const { tokensFile: path = own } = config.http;
  const made = path === own ? await createTokensFile(path, config.profile) : undefined;
  const current = await openTokensFile({
    path,
    isProfile: (name) => isProfile(config, name),
    log,
  });
  const verify = createStaticVerifier(current, await openSealingKey(shared));
  return {
    auth: "static",
    gateAt: (resource) =>
      createBearerGate({ verify, resource, issuers: [], now: systemClock, log }),
    tokens: { path, made },
  };
};

/**
 * Refuses settings of the authentication that have no effect, or need a store that the server does not share.
 *
 * @throws {Problem} invalid_request
 */
export const checkHttpSettings = async (config: Config): Promise<void> => {
  checkEffects(config, chooseAuth(config, listExcluding(config).length === 0));
  await checkDirectory(config);
};

/** Opens the authentication of the MCP endpoint that the settings choose. @throws {Problem} invalid_request */
export const openEntrance = async (shared: Shared, address: Address): Promise<Entrance> => {
  const { host } = address;
  const isOpen =
    listExcluding(shared.config).length === 0 &&
    isLoopback(host) &&
    isDemoAlone(await withProfile(shared.config));
  const auth = chooseAuth(shared.config, isOpen);
  checkEffects(shared.config, auth);
  const { issuer } = shared.config;
  if (auth === "static") return openStaticEntrance(shared);
  if (auth === "builtin") return openBuiltinEntrance(shared, address);
  if (auth === "issuer" && issuer !== undefined) return openIssuerEntrance(shared, issuer);
  if (auth === "none") {
    if (!isOpen) throwOpenRefused(listExcluding(shared.config));
    return { auth, gateAt: () => createOpenGate(createOwnCaller(shared.config.profile)) };
  }
  throw new Problem(
    "invalid_request",
    "RECEIVABLES_HTTP_AUTH=issuer needs RECEIVABLES_OAUTH_ISSUER.",
  );
};
