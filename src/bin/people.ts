import { lazily } from "../kit/lazily.ts";
import type { Caller } from "../mcp/http/gate.ts";
import type { Needs } from "../mcp/needs.ts";
import type { SecretPages } from "../mcp/http/secret-pages.ts";
import { brokerFor, sealingKey, type Shared } from "./compose.ts";
import { mcpNeeds } from "./mcp.ts";
import type { Entrance } from "./http-gate.ts";
import { asProfile, withProfile } from "./profile.ts";

/** Opens what a caller works with: their own credentials, or those of their profile, and no other. */
export const openFor = (
  shared: Shared,
  { identityOf }: Pick<Entrance, "identityOf">,
  secretPages: SecretPages,
): ((caller: Caller) => Promise<Needs>) => {
  const key = lazily(() => sealingKey(shared));
  return async (caller) => {
    const identity = await identityOf?.(caller.profile);
    const config =
      identity === undefined
        ? await asProfile(shared.config, caller.profile)
        : await withProfile(shared.config);
    const broker = brokerFor(shared, config, identity);
    const own = { broker, key: await key(), replayGuard: shared.replayGuard };
    const needs = mcpNeeds(config, own, { log: shared.log, door: "http", caller });
    return { ...needs, secretPages };
  };
};
