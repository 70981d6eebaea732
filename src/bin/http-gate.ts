import type { IncomingMessage, RequestListener } from "node:http";
import { Problem } from "../contract/errors.ts";
import { systemClock } from "../kit/clock.ts";
import { isLoopback } from "../kit/network.ts";
import { createBearerGate } from "../mcp/http/bearer.ts";
import { type Gate, openGate } from "../mcp/http/gate.ts";
import { ownCaller } from "../mcp/caller.ts";
import type { CreateOwnKey } from "../mcp/http/secret-desk.ts";
import { verifyStatic } from "../mcp/http/static-tokens.ts";
import { builtinEntrance } from "./builtin.ts";
import { type Identity, sealingKey, type Shared } from "./compose.ts";
import type { Config, IssuerSettings } from "./config.ts";
import { folderOf } from "./folder.ts";
import { isProfile, withProfile } from "./profile.ts";
import type { Address } from "./serve.ts";
import { openSubjects } from "./subjects.ts";
import { makeTokensFile, openTokensFile } from "./tokens-file.ts";

type Auth = NonNullable<Config["http"]["auth"]>;

/** How people come in, before the address is known at which they do. */
export type Entrance = {
  auth: Auth;
  /** The gate of the MCP endpoint at this address. */
  gateAt(mcpUrl: URL): Gate;
  /** The file of tokens, and the one that was made just now, which nobody has seen yet. */
  tokens?: { path: string; made: string | undefined };
  /** What answers where people sign in, beside the MCP endpoint. */
  signIn?: { isPath(path: string): boolean; listener: RequestListener };
  /** Where people sign in here: how they make API keys, each for a request of theirs. */
  keyMaker?: (incoming: IncomingMessage) => CreateOwnKey;
  /** Whose calls a caller makes, where callers have no profiles. */
  identityOf?: (name: string) => Promise<Identity>;
  close?: () => Promise<void>;
};

/** Whether whoever comes in can do no harm: with the credentials that this program made for its own demo tenant. */
const isDemoAlone = ({ remote, tenantId, credentials }: Config): boolean =>
  remote === undefined &&
  (tenantId ?? "demo") === "demo" &&
  [credentials.apiKey, credentials.extApiKey, credentials.email].every((one) => one === undefined);

const authOf = ({ http, issuer }: Config, isOpen: boolean): Auth => {
  if (http.auth !== undefined) return http.auth;
  if (issuer !== undefined) return "issuer";
  return isOpen ? "none" : "static";
};

const refuseOpen = (): never => {
  throw new Problem(
    "invalid_request",
    "RECEIVABLES_HTTP_AUTH=none lets everybody who reaches the port act with this server's credentials: it is for the demo tenant of the embedded platform on loopback alone. Unset it for static tokens, or use builtin or issuer.",
  );
};

const staticEntrance = async (shared: Shared): Promise<Entrance> => {
  const { config, log } = shared;
  const own = folderOf(config.dataFolder).httpTokens;
  const { tokensFile: path = own } = config.http;
  const made = path === own ? await makeTokensFile(path, config.profile) : undefined;
  const current = await openTokensFile({
    path,
    isProfile: (name) => isProfile(config, name),
    log,
  });
  const verify = verifyStatic(current, await sealingKey(shared));
  return {
    auth: "static",
    gateAt: (resource) => createBearerGate({ verify, resource, issuers: [], log }),
    tokens: { path, made },
  };
};

const issuerEntrance = async (shared: Shared, issuer: IssuerSettings): Promise<Entrance> => {
  const { config, log } = shared;
  const { url, audience, clientId, clientSecret } = issuer;
  const profileOf = await openSubjects(config);
  const key = await sealingKey(shared);
  const { verifyIssued } = await import("../mcp/http/issuer.ts");
  const client =
    clientId === undefined || clientSecret === undefined
      ? undefined
      : { id: clientId, secret: clientSecret };
  return {
    auth: "issuer",
    gateAt(resource) {
      const whom = { issuer: url, audience: audience ?? resource.href };
      const verify = verifyIssued({
        ...whom,
        client,
        profileOf,
        key,
        fetch,
        now: systemClock,
        log,
      });
      return createBearerGate({ verify, resource, issuers: [url], log });
    },
  };
};

/** Who may come in over HTTP, as the settings say. */
export const openEntrance = async (shared: Shared, address: Address): Promise<Entrance> => {
  const { host } = address;
  const isOpen = isDemoAlone(await withProfile(shared.config)) && isLoopback(host);
  const auth = authOf(shared.config, isOpen);
  const { issuer } = shared.config;
  if (auth === "static") return staticEntrance(shared);
  if (auth === "builtin") return builtinEntrance(shared, address);
  if (auth === "issuer" && issuer !== undefined) return issuerEntrance(shared, issuer);
  if (auth === "none") {
    if (!isOpen) refuseOpen();
    return { auth, gateAt: () => openGate(ownCaller(shared.config.profile)) };
  }
  throw new Problem(
    "invalid_request",
    "RECEIVABLES_HTTP_AUTH=issuer needs RECEIVABLES_OAUTH_ISSUER.",
  );
};
