import type { Changes } from "../kit/changes.ts";
import { systemClock } from "../kit/clock.ts";
import type { SharedSessions } from "../mcp/http/shared-sessions.ts";
import { openSealingKey, type Shared } from "./compose.ts";

/** Opens the state that the nodes behind one address share: in the database, if the settings name one. */
export const openSharedState = async (
  shared: Shared,
): Promise<{ sessions: SharedSessions; changes: Changes } | undefined> => {
  const { config, log } = shared;
  if (config.databaseUrl === undefined) return undefined;
  const { createPostgresChanges } = await import("../kit/postgres/changes.ts");
  const { createSharedSessions } = await import("./shared-sessions.ts");
  const storage = await shared.oauthStorage();
  const key = await openSealingKey(shared);
  const changes = createPostgresChanges(config.databaseUrl.reveal(), log);
  return {
    sessions: createSharedSessions({ storage, changes, key, now: systemClock }),
    changes,
  };
};
