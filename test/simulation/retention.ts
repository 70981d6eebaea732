import type { AttemptRow, AuditRow, Inspector } from "./inspector.ts";
import { TENANTS } from "./settings.ts";

/** An audit entry as it was written. */
type Entry = Omit<AuditRow, "tool"> & {
  tool: string | null;
  seq: number;
  at: number;
  run: string | null;
  written: number | null;
};

/** A removal of old data that ended well, with the clock of its node when it began. */
type Removal = { now: number };

/**
 * Follows what retention removes. The model has every audit entry that was ever seen: those that begin a tenant's log
 * and are older than the period may be removed, and a removal that ends well leaves none of them.
 */
export const createRetentionCheck = (inspector: Inspector, keptMs: number) => {
  const logs = new Map<string, Entry[]>(TENANTS.map((tenantId) => [tenantId, []]));
  const attempts = new Map<string, AttemptRow>();
  let removals: Removal[] = [];

  /** Counts the entries that begin a log and are older than a time. */
  const countOld = (log: readonly Entry[], before: number): number => {
    const first = log.findIndex(({ at }) => at >= before);
    return first === -1 ? log.length : first;
  };

  const checkLog = (tenantId: string, log: Entry[], latest: number): void => {
    const known = log.length;
    const rows = inspector.all<Entry>(
      `select tenant_id, seq, at, status_code, json_extract(metadata, '$.mcpTool') as tool,
         json_extract(metadata, '$.resourceId') as run, json_extract(metadata, '$.written') as written
       from audit_logs where tenant_id = ? and seq > ? order by seq`,
      tenantId,
      log.at(-1)?.seq ?? 0,
    );
    log.push(...rows);
    const [left] = inspector.all<{ count: number }>(
      "select count(*) as count from audit_logs where tenant_id = ?",
      tenantId,
    );
    const removed = log.length - (left?.count ?? 0);
    const most = countOld(log, latest - keptMs);
    if (removed > most) {
      throw new Error(`${removed} entries of ${tenantId} are removed, ${most} are old enough`);
    }
    for (const { now } of removals) {
      const least = Math.min(countOld(log, now - keptMs), known);
      if (removed < least) {
        throw new Error(`${removed} entries of ${tenantId} are removed, ${least} are too old`);
      }
    }
  };

  const list = (): Entry[] => [...logs.values()].flat();
  return {
    /** Looks at the logs after a step; `latest` is the furthest clock of its nodes. */
    observe(latest: number): void {
      for (const [tenantId, log] of logs) checkLog(tenantId, log, latest);
      removals = [];
      for (const attempt of inspector.attempts()) {
        attempts.set(`${attempt.delivery_id} ${attempt.attempt}`, attempt);
      }
    },
    noteRemoval: (removal: Removal): void => void removals.push(removal),
    /** The entries of requests of the simulation, removed ones included. */
    audits: (): AuditRow[] =>
      list()
        .map((entry) => ({ ...entry, tool: entry.tool ?? "" }))
        .filter(({ tool }) => tool.startsWith("sim.")),
    /** Adds up what the entries of an import say, whose runs begin with a text. */
    countWritten(tenantId: string, run: string): number {
      const byRun = Map.groupBy(
        (logs.get(tenantId) ?? []).filter((entry) => (entry.run ?? "").startsWith(run)),
        (entry) => entry.run,
      );
      const most = [...byRun.values()].map((of) =>
        Math.max(...of.map(({ written }) => written ?? 0)),
      );
      return most.reduce((sum, rows) => sum + rows, 0);
    },
    /** All attempts of deliveries, in order. */
    attempts: (): AttemptRow[] =>
      [...attempts.values()].toSorted(
        (a, b) =>
          Number(a.delivery_id > b.delivery_id) - Number(a.delivery_id < b.delivery_id) ||
          a.attempt - b.attempt,
      ),
  };
};

export type RetentionCheck = ReturnType<typeof createRetentionCheck>;
