import { lazily } from "../kit/lazily.ts";
import type { Caller } from "../mcp/gate.ts";
import type { Needs } from "../mcp/needs.ts";
import { brokerFor, sealingKey, type Shared } from "./compose.ts";
import { mcpNeeds } from "./mcp.ts";
import { asProfile } from "./profile.ts";

/** Opens what a caller works with: the credentials of their profile and no other. */
export const openFor = (shared: Shared): ((caller: Caller) => Promise<Needs>) => {
  const key = lazily(() => sealingKey(shared));
  return async (caller) => {
    const config = await asProfile(shared.config, caller.profile);
    const own = { broker: brokerFor(shared, config), key: await key() };
    return mcpNeeds(config, own, { log: shared.log, door: "http", caller });
  };
};
