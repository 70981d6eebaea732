import type { RequestListener } from "node:http";
import { createFileVault } from "../broker/vault.ts";
import { systemClock } from "../kit/clock.ts";
import type { Gate } from "../mcp/http/gate.ts";
import { createSecretDesk } from "../mcp/http/secret-desk.ts";
import { createSecretPages, type Proof, type SecretPages } from "../mcp/http/secret-pages.ts";
import { sealingKey, type Shared } from "./compose.ts";
import { folderOf } from "./folder.ts";
import type { Entrance } from "./http-gate.ts";
import { mcpListener } from "./serve.ts";

const TOKEN = /^[\w.~+/=-]{1,512}$/;

/** Who a token would let in. */
const callerBy =
  (gate: Gate, mcpUrl: URL) =>
  async (token: string): Promise<string | undefined> => {
    if (!TOKEN.test(token)) return undefined;
    const headers = { Authorization: `Bearer ${token}` };
    const admitted = await gate.admit(new Request(mcpUrl, { headers }));
    return admitted instanceof Response ? undefined : admitted.extra.caller.id;
  };

export type SecretPlace = {
  pages: SecretPages;
  /** Answers requests for the pages. */
  listener: RequestListener;
};

const proofOf = ({ auth, keyMaker }: Entrance): Proof => {
  if (keyMaker !== undefined) return "password";
  return auth === "static" ? "token" : "address";
};

/** Where people who are elsewhere take what tools have put away for them. */
export const openSecretPages = async (
  shared: Shared,
  { base, mcpUrl, gate, entrance }: { base: string; mcpUrl: URL; gate: Gate; entrance: Entrance },
): Promise<SecretPlace> => {
  const { config, masterKey, log, replayGuard } = shared;
  const { secrets } = folderOf(config.dataFolder);
  const key = await sealingKey(shared);
  const pages = createSecretPages({ key, base, now: systemClock, proof: proofOf(entrance) });
  const desk = createSecretDesk({
    pages,
    vault: createFileVault({ folder: secrets, masterKey }),
    replayGuard,
    callerOf: callerBy(gate, mcpUrl),
    log,
  });
  const listener: RequestListener = (incoming, response) => {
    const makeKey = entrance.keyMaker?.(incoming);
    return mcpListener({ fetch: (request) => desk(request, makeKey) })(incoming, response);
  };
  return { pages, listener };
};
