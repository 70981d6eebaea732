import { MINUTE } from "../../kit/clock.ts";
import { createLazy } from "../../kit/lazily.ts";
import { type Caller, settingsOf } from "../../mcp/caller.ts";
import { hashId } from "../../records/port.ts";
import type { ToolContext } from "../../mcp/tools/tool-context.ts";
import type { SecretPages } from "../../mcp/tools/secret-pages.ts";
import { createBrokerFor, openSealingKey, type Shared } from "./compose.ts";
import { createMcpNeeds } from "./mcp.ts";
import type { Entrance } from "./entrance.ts";
import type { SavedDownloads } from "./saved-downloads.ts";
import { placeOf } from "./saved-places.ts";
import { withOtherProfile, withProfile } from "./profile.ts";

/** Counts a caller's calls in the database that nodes share, if there is one. */
const createCountCall = ({ config, oauthStorage }: Shared, { id }: Caller) => {
  if (config.databaseUrl === undefined) return undefined;
  const key = hashId(`tool calls of ${id}`);
  return async () => (await oauthStorage()).counter.count(key, MINUTE);
};

/** Opens the broker and settings of a caller: with their own credentials, or with those of their profile. */
export const createNeedsFactory = (
  shared: Shared,
  { identityOf, approvalsOf }: Pick<Entrance, "identityOf" | "approvalsOf">,
  {
    secretPages,
    downloads,
    mcpUrl,
  }: Pick<ToolContext, "mcpUrl"> & { secretPages: SecretPages; downloads: SavedDownloads },
): ((caller: Caller) => Promise<ToolContext>) => {
  const key = createLazy(() => openSealingKey(shared));
  return async (caller) => {
    const identity = await identityOf?.(caller.profile);
    const config =
      identity === undefined
        ? await withOtherProfile(shared.config, caller.profile)
        : await withProfile(shared.config);
    const broker = createBrokerFor(shared, config, identity);
    const saved = shared.savedPlaces[placeOf(config)];
    const own = { broker, key: await key(), replayGuard: shared.replayGuard, saved };
    const needs = createMcpNeeds({ ...config, mcp: settingsOf(config.mcp, caller) }, own, {
      log: shared.log,
      transport: "http",
      caller,
    });
    const approvals = approvalsOf?.(caller.profile);
    const countCall = createCountCall(shared, caller);
    const savedLink = downloads.linksOf(config).urlOf;
    return { ...needs, secretPages, savedLink, approvals, mcpUrl, countCall };
  };
};
