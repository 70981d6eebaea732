import type { VaultEntries } from "../broker/vault.ts";
import type { Storage } from "../oauth/store/port.ts";

const KIND = "Secret";
const OWNER = "vault";

/** Creates the entries of a vault in the database, for nodes that share no folder. */
export const createVaultRecords = (records: () => Promise<Storage>): VaultEntries => ({
  create: async (id, payload) =>
    (await records()).add({
      kind: KIND,
      id,
      grant_id: null,
      owner: OWNER,
      payload,
      consumed_at: null,
      // A person removes it.
      expires_at: Number.MAX_SAFE_INTEGER,
    }),
  read: async (id) => (await (await records()).find(KIND, id))?.payload,
  remove: async (id) => (await records()).remove(KIND, id),
  list: async () => (await (await records()).listByOwner(KIND, OWNER)).map(({ id }) => id),
});
