import { type Clock, DAY } from "../kit/clock.ts";
import { toErrorFields, type Log } from "../kit/log.ts";
import type { Lifetimes } from "./credentials.ts";
import type { FileStore } from "./files/port.ts";
import { AuditChainChanged, purgeEntries } from "./store/audit-chain.ts";
import { purgeCounters } from "./store/counters.ts";
import { purgeKnownAddresses } from "./store/known-addresses.ts";
import { forgetChunks, listExpired } from "./store/export-runs.ts";
import type { Db, Store } from "./store/port.ts";
import { purgeAttempts } from "./store/webhook-deliveries.ts";

/** Retention periods, in milliseconds. */
export type Retention = {
  auditLogs: number;
  /** Rows of completed runs; the runs themselves stay listed. */
  exportRuns: number;
};

export type Purged = {
  auditEntries: number;
  exportRuns: number;
  webhookAttempts: number;
  sessions: number;
};

type Needs = {
  store: Store;
  files: FileStore;
  clock: Clock;
  log: Log;
  retention: Retention;
  lifetimes: Pick<Lifetimes, "sessionLongest">;
};

/** Expired sessions are kept for this time, so that their use is answered with token_expired. */
const SESSION_REMEMBERED_MS = DAY;

const purgeSessions = ({ store, clock, lifetimes }: Needs): Promise<number> => {
  const before = clock() - lifetimes.sessionLongest - SESSION_REMEMBERED_MS;
  return store.transaction(async (tx) => {
    const { numDeletedRows } = await tx
      .deleteFrom("sessions")
      .where("created_at", "<", before)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  });
};

/** Calls `removeSome` until it removes nothing. Returns the total. */
const removeAll = async (
  store: Store,
  removeSome: (tx: Db) => Promise<number>,
): Promise<number> => {
  let removed = 0;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- short transactions, so that requests get their turn
    const more = await store.transaction(removeSome);
    if (more === 0) return removed;
    removed += more;
  }
};

/** Removes old entries of one tenant. A chain that was changed stays as it is, and the log says so. */
const purgeAudit = async (
  { store, log }: Needs,
  tenantId: string,
  before: number,
): Promise<number> => {
  try {
    return await removeAll(store, (tx) => purgeEntries(tx, store.auditKey, tenantId, before));
  } catch (error) {
    if (!(error instanceof AuditChainChanged)) throw error;
    log.error("audit.chain_changed", { tenantId, ...toErrorFields(error) });
    return 0;
  }
};

const RUNS_AT_ONCE = 100;

/** Removes the rows of expired runs. Files that cannot be removed are left to the sweep. */
const purgeRuns = async (
  { store, files, clock, retention }: Needs,
  tenantId: string,
): Promise<number> => {
  const now = clock();
  const before = now - retention.exportRuns;
  let removed = 0;
  for (;;) {
    // oxlint-disable no-await-in-loop -- one run after the other
    const runs = await listExpired(store.read, tenantId, before, RUNS_AT_ONCE);
    for (const run of runs) {
      const keys = await store.transaction((tx) => forgetChunks(tx, run, now));
      for (const key of keys) await files.remove(key);
    }
    // oxlint-enable no-await-in-loop
    if (runs.length === 0) return removed;
    removed += runs.length;
  }
};

/** Removes all rate limit windows that have ended. */
export const purgeEndedCounters = async ({
  store,
  clock,
}: Pick<Needs, "store" | "clock">): Promise<void> => {
  // oxlint-disable-next-line no-await-in-loop -- short statements, so that requests get their turn
  while ((await purgeCounters(store.counting, clock())) > 0);
};

/** Removes all data past its retention period. */
export const purge = async (needs: Needs): Promise<Purged> => {
  const { store, clock, retention } = needs;
  const before = clock() - retention.auditLogs;
  let [auditEntries, exportRuns] = [0, 0];
  for (const { id } of await store.read.selectFrom("tenants").select("id").execute()) {
    // oxlint-disable no-await-in-loop -- background work
    auditEntries += await purgeAudit(needs, id, before);
    exportRuns += await purgeRuns(needs, id);
    // oxlint-enable no-await-in-loop
  }
  // Webhook attempts have the retention of the audit log.
  const webhookAttempts = await removeAll(store, (tx) => purgeAttempts(tx, before));
  await purgeEndedCounters(needs);
  await store.transaction((tx) => purgeKnownAddresses(tx, clock()));
  return { auditEntries, exportRuns, webhookAttempts, sessions: await purgeSessions(needs) };
};
