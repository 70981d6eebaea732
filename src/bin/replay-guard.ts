import { type Clock, MINUTE } from "../kit/clock.ts";
import type { ReplayGuard } from "../mcp/tools/replay-guard.ts";
import type { Storage } from "../oauth/store/port.ts";

const KIND = "ReplayGuard";
const PURGE_EVERY_MS = MINUTE;

/** Creates a replay guard in the database, for nodes that share no folder. */
export const createReplayRecords = (
  records: () => Promise<Pick<Storage, "add" | "purge">>,
  now: Clock,
): ReplayGuard => {
  let purgeAt = 0;
  return {
    async claim(id, expiresAt) {
      const { add, purge } = await records();
      if (now() >= purgeAt) {
        purgeAt = now() + PURGE_EVERY_MS;
        await purge();
      }
      const record = {
        kind: KIND,
        id,
        grant_id: null,
        owner: null,
        payload: "",
        consumed_at: null,
      };
      // The margin covers nodes whose clocks differ: an expired token is refused before it is claimed.
      return add({ ...record, expires_at: expiresAt + MINUTE });
    },
  };
};
