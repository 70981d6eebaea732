import type { Sent } from "./client.ts";
import type { Inspector } from "./inspector.ts";
import { type TenantId, TENANTS } from "./settings.ts";

/** Bytes that a run of export may store beside the requests of a step. */
const MOST_OF_A_RUN = 1_000_000;

/**
 * Follows what tenants store. No commit leaves a tenant with more than the quota, and an upload is refused only where it
 * and those beside it could have exceeded it.
 */
export const createQuotaCheck = (inspector: Inspector, quota: number) => {
  const highest = new Map<string, number>();
  let ranJobs = false;

  const countBytes = (tenantId: TenantId): number =>
    ["dispute_attachments", "document_attachments", "run_chunks"].reduce((sum, table) => {
      const [row] = inspector.all<{ bytes: number | null }>(
        `select sum(file_size) as bytes from ${table} where tenant_id = ? and file_key is not null`,
        tenantId,
      );
      return sum + (row?.bytes ?? 0);
    }, 0);

  return {
    /** Call it where a job runs in a step. */
    noteJobs(): void {
      ranJobs = true;
    },
    /** Call it after each commit; returns what is wrong. */
    afterCommit(): string | undefined {
      for (const tenantId of TENANTS) {
        const bytes = countBytes(tenantId);
        highest.set(tenantId, Math.max(highest.get(tenantId) ?? 0, bytes));
        if (bytes > quota) return `${tenantId} stores ${bytes} bytes, ${quota} is its quota`;
      }
      return undefined;
    },
    /** Checks the refusals among requests of one step, once all of it is known. */
    check(sent: readonly Sent[]): void {
      const refused = sent.filter(
        ({ outcome }) => outcome.kind === "answered" && outcome.status === 507,
      );
      for (const { tenantId, number } of refused) {
        const uploads = sent.filter((one) => one.tenantId === tenantId);
        const sizes = uploads.reduce((sum, { size }) => sum + size, 0);
        const stored = Math.max(highest.get(tenantId) ?? 0, countBytes(tenantId));
        const most = stored + sizes + (ranJobs ? MOST_OF_A_RUN : 0);
        if (most > quota) continue;
        throw new Error(`upload ${number} is refused, though ${most} of ${quota} bytes are used`);
      }
      highest.clear();
      ranJobs = false;
    },
  };
};
