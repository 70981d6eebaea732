import { type Clock, MINUTE } from "../kit/clock.ts";
import type { Spent } from "../mcp/calls/spent.ts";
import type { Storage } from "../oauth/records.ts";

const KIND = "Spent";
const PURGE_EVERY_MS = MINUTE;

/** A database as the memory of what may happen once, for nodes that share nothing else. */
export const createSpentRecords = (
  records: () => Promise<Pick<Storage, "add" | "purge">>,
  now: Clock,
): Spent => {
  let purgeAt = 0;
  return {
    async claim(id, expiresAt) {
      const { add, purge } = await records();
      if (now() >= purgeAt) {
        purgeAt = now() + PURGE_EVERY_MS;
        await purge();
      }
      const record = { kind: KIND, id, grantId: null, owner: null, payload: "", consumedAt: null };
      // A minute more, for nodes whose clocks differ: what has expired is refused before it is asked for here.
      return add({ ...record, expiresAt: expiresAt + MINUTE });
    },
  };
};
