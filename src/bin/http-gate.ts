import { Problem } from "../contract/errors.ts";
import { systemClock } from "../kit/clock.ts";
import { isLoopback } from "../kit/network.ts";
import { createBearerGate } from "../mcp/http/bearer.ts";
import { createOpenGate } from "../mcp/http/gate.ts";
import { createOwnCaller } from "../mcp/caller.ts";
import { createStaticVerifier } from "../mcp/http/static-tokens.ts";
import { openBuiltinEntrance } from "./builtin.ts";
import { openSealingKey, type Shared } from "./compose.ts";
import type { Config, IssuerSettings } from "./config.ts";
import type { Auth, Entrance } from "./entrance.ts";
import { getDataPaths } from "./folder.ts";
import { isProfile, withProfile } from "./profile.ts";
import type { Address } from "./serve.ts";
import { openSubjects } from "./subjects.ts";
import { createTokensFile, openTokensFile } from "./tokens-file.ts";

/** Returns whether the server acts for its own demo tenant alone, so that it may be open on loopback. */
const isDemoAlone = ({ remote, tenantId, credentials }: Config): boolean =>
  remote === undefined &&
  (tenantId ?? "demo") === "demo" &&
  [credentials.apiKey, credentials.extApiKey, credentials.email].every((one) => one === undefined);

const chooseAuth = ({ http, issuer }: Config, isOpen: boolean): Auth => {
  if (http.auth !== undefined) return http.auth;
  if (issuer !== undefined) return "issuer";
  return isOpen ? "none" : "static";
};

const throwOpenRefused = (): never => {
  throw new Problem(
    "invalid_request",
    "RECEIVABLES_HTTP_AUTH=none gives every client that reaches the port this server's credentials. It is allowed only for the demo tenant of the embedded platform on loopback. Unset it to use static tokens, or set builtin or issuer.",
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

const openIssuerEntrance = async (shared: Shared, issuer: IssuerSettings): Promise<Entrance> => {
  const { config, log } = shared;
  const { url, audience, clientId, clientSecret } = issuer;
  const profileOf = await openSubjects(config);
  const key = await openSealingKey(shared);
  const { createIssuerVerifier } = await import("../mcp/http/issuer.ts");
  const client =
    clientId === undefined || clientSecret === undefined
      ? undefined
      : { id: clientId, secret: clientSecret };
  return {
    auth: "issuer",
    gateAt(resource) {
      const whom = { issuer: url, audience: audience ?? resource.href };
      const verify = createIssuerVerifier({
        ...whom,
        client,
        profileOf,
        key,
        fetch,
        now: systemClock,
        log,
      });
      return createBearerGate({ verify, resource, issuers: [url], now: systemClock, log });
    },
  };
};

/** Opens the authentication of the MCP endpoint that the settings choose. @throws {Problem} invalid_request */
export const openEntrance = async (shared: Shared, address: Address): Promise<Entrance> => {
  const { host } = address;
  const isOpen = isDemoAlone(await withProfile(shared.config)) && isLoopback(host);
  const auth = chooseAuth(shared.config, isOpen);
  const { issuer } = shared.config;
  if (auth === "static") return openStaticEntrance(shared);
  if (auth === "builtin") return openBuiltinEntrance(shared, address);
  if (auth === "issuer" && issuer !== undefined) return openIssuerEntrance(shared, issuer);
  if (auth === "none") {
    if (!isOpen) throwOpenRefused();
    return { auth, gateAt: () => createOpenGate(createOwnCaller(shared.config.profile)) };
  }
  throw new Problem(
    "invalid_request",
    "RECEIVABLES_HTTP_AUTH=issuer needs RECEIVABLES_OAUTH_ISSUER.",
  );
};
