import type { VaultEntries } from "../broker/vault.ts";
import { type Clock, MINUTE } from "../kit/clock.ts";
import type { ReplayGuard } from "../mcp/tools/asking/replay-guard.ts";
import type { Storage } from "./port.ts";

const SECRET_KIND = "Secret";
const VAULT_OWNER = "vault";

/** Creates the entries of a vault in the database, for nodes that share no folder. */
export const createVaultRecords = (records: () => Promise<Storage>): VaultEntries => ({
  create: async (id, payload) =>
    (await records()).add({
      kind: SECRET_KIND,
      id,
      grant_id: null,
      owner: VAULT_OWNER,
      payload,
      consumed_at: null,
      // A person removes it.
      expires_at: Number.MAX_SAFE_INTEGER,
    }),
  read: async (id) => (await (await records()).find(SECRET_KIND, id))?.payload,
  remove: async (id) => (await records()).remove(SECRET_KIND, id),
  list: async () =>
    (await (await records()).listByOwner(SECRET_KIND, VAULT_OWNER)).map(({ id }) => id),
});

const CLAIM_KIND = "ReplayGuard";
const PURGE_EVERY_MS = MINUTE;

/** Creates a replay guard in the database, for nodes that share no folder. */
export const createReplayRecords = (
  records: () => Promise<Pick<Storage, "add" | "find" | "remove" | "purge">>,
  now: Clock,
): ReplayGuard => {
  let purgeAt = 0;
  return {
    async claim(id, expiresAt, content) {
      const { add, purge } = await records();
      if (now() >= purgeAt) {
        purgeAt = now() + PURGE_EVERY_MS;
        await purge();
      }
      return add({
        kind: CLAIM_KIND,
        id,
        grant_id: null,
        // The content is the id of a record or a time: a payload would be sealed.
        owner: content ?? null,
        payload: "",
        consumed_at: null,
        // The margin covers nodes whose clocks differ: an expired token is refused before it is claimed.
        expires_at: expiresAt + MINUTE,
      });
    },
    async read(id) {
      const { find } = await records();
      const record = await find(CLAIM_KIND, id);
      return record === undefined ? undefined : (record.owner ?? "");
    },
    async release(id) {
      const { remove } = await records();
      await remove(CLAIM_KIND, id);
    },
  };
};
