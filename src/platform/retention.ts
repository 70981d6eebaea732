import type { Clock } from "../kit/clock.ts";
import { purgeEntries } from "./store/audit-chain.ts";
import type { Store } from "./store/port.ts";

/** How long things are kept, in milliseconds. */
export type Retention = { auditLogs: number };

export type Purged = { auditEntries: number };

type Needs = { store: Store; clock: Clock; retention: Retention };

const purgeLog = async (store: Store, tenantId: string, before: number): Promise<number> => {
  let removed = 0;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- short transactions, so that requests get their turn
    const more = await store.transaction((tx) => purgeEntries(tx, tenantId, before));
    if (more === 0) return removed;
    removed += more;
  }
};

/** Removes what has been kept for its time. */
export const purge = async ({ store, clock, retention }: Needs): Promise<Purged> => {
  const before = clock() - retention.auditLogs;
  let auditEntries = 0;
  for (const { id } of await store.read.selectFrom("tenants").select("id").execute()) {
    // oxlint-disable-next-line no-await-in-loop -- nobody waits for it
    auditEntries += await purgeLog(store, id, before);
  }
  return { auditEntries };
};
