import { setImmediate } from "node:timers/promises";
import { type Clock, DAY } from "../kit/clock.ts";
import { toErrorFields, type Log } from "../kit/log.ts";
import type { Lifetimes } from "./credentials.ts";
import { selectOwnFiles } from "./files/owner.ts";
import { purgeSavedFiles } from "./files/saved.ts";
import type { FileStore } from "./files/port.ts";
import { AuditChainChanged, purgeEntries } from "./store/audit/purge.ts";
import { purgeCounters } from "./store/queries/counters.ts";
import { purgeKnownAddresses } from "./store/queries/known-addresses.ts";
import { forgetChunks, listExpired } from "./store/queries/export-runs.ts";
import { getDialect } from "./store/engine/dialect.ts";
import { type Db, type Store, TenantPaused } from "./store/port.ts";
import { purgeSessions } from "./store/queries/sessions.ts";
import { listAllTenants } from "./store/queries/tenants.ts";
import { purgeAttempts } from "./store/queries/webhook-deliveries.ts";

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
  savedFiles: number;
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

/** Calls `removeSome` until it removes nothing; requests get their turn in between. Returns the total. */
const repeatUntilNone = async (removeSome: () => Promise<number>): Promise<number> => {
  let removed = 0;
  for (;;) {
    // Short transactions, so that other writers get their turn.
    const more = await removeSome();
    if (more === 0) return removed;
    removed += more;
    // SQLite awaits nothing that would free the event loop.
    await setImmediate();
  }
};

const removeAll = (store: Store, removeSome: (tx: Db) => Promise<number>): Promise<number> =>
  repeatUntilNone(() => store.transaction(removeSome));

/** Removes old entries of one tenant. A chain that was changed stays as it is, and the log says so. */
const purgeAudit = async (
  { store, log }: Needs,
  tenantId: string,
  before: number,
): Promise<number> => {
  try {
    return await removeAll(store, (tx) => purgeEntries(tx, store.auditKey, tenantId, before));
  } catch (error) {
    // The pause has begun since the tenants were listed.
    if (error instanceof TenantPaused) return 0;
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
    const runs = await listExpired(store.read, tenantId, before, RUNS_AT_ONCE);
    for (const run of runs) {
      const keys = await store.transaction(async (tx) => {
        return selectOwnFiles(tx, tenantId, await forgetChunks(tx, run, now));
      });
      for (const key of keys) await files.remove(key);
    }
    if (runs.length === 0) return removed;
    removed += runs.length;
  }
};

/** Removes all rate limit windows that have ended. */
export const purgeEndedCounters = async ({
  store,
  clock,
}: Pick<Needs, "store" | "clock">): Promise<void> => {
  await repeatUntilNone(() => purgeCounters(store.counting, clock()));
};

/** Creates the parts of tables for the months to come. Several processes may call it at once. */
const prepareMonths = ({ store, clock }: Needs): Promise<void> =>
  store.transaction((tx) => getDialect(tx).partitions.prepareMonths(tx, clock()), "partitions");

/** Removes all data past its retention period. */
export const purge = async (needs: Needs): Promise<Purged> => {
  const { store, clock, retention, lifetimes } = needs;
  const before = clock() - retention.auditLogs;
  let [auditEntries, exportRuns] = [0, 0];
  for (const { id, phase } of await listAllTenants(store.read)) {
    // What is copied or removed stays as it is meanwhile.
    if (phase !== null) continue;
    auditEntries += await purgeAudit(needs, id, before);
    exportRuns += await purgeRuns(needs, id);
  }
  // Webhook attempts have the retention of the audit log.
  const webhookAttempts = await removeAll(store, (tx) => purgeAttempts(tx, before));
  await purgeEndedCounters(needs);
  await removeAll(store, (tx) => purgeKnownAddresses(tx, clock()));
  const ended = clock() - lifetimes.sessionLongest - SESSION_REMEMBERED_MS;
  const sessions = await removeAll(store, (tx) => purgeSessions(tx, ended));
  const savedFiles = await purgeSavedFiles(needs);
  // Last: it fails while long reads hold the tables, and is repeated at the next purge.
  await prepareMonths(needs);
  return { auditEntries, exportRuns, webhookAttempts, sessions, savedFiles };
};
