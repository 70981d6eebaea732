import { DAY } from "../../src/kit/clock.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { appendEntries } from "../../src/platform/store/audit/chain.ts";
import type { Db } from "../../src/platform/store/port.ts";
import type { TestPlatform } from "./platform.ts";

export const AUDIT_LOGS = "/api/v1/remittance-export/audit-logs";

export const entry = (tenantId: string, number: number, moment: number) => ({
  tenantId,
  id: `entry-${number}`,
  at: moment,
  method: "GET",
  endpoint: "/payments/query",
  action: number % 3 === 0 ? null : "payments.queried",
  statusCode: 200,
  metadata: { source: "cashapp", rowCount: number },
});

/** A tenant whose log has so many entries, a day apart, the last one of now. */
export const logged = async (at: TestPlatform, tenantId: string, count: number): Promise<void> => {
  await createTenant(
    { store: at.store, clock: at.clock, newId: () => tenantId },
    { tenantId, name: tenantId },
  );
  const entries = Array.from({ length: count }, (_, index) =>
    entry(tenantId, index + 1, at.clock() - (count - 1 - index) * DAY),
  );
  await at.store.transaction((tx) => appendEntries(tx, at.store.auditKey, entries));
};

/** A tenant's log after a sequence number, in the order of its writing. */
export const rowsOf = (db: Db, tenantId: string, after = 0) =>
  db
    .selectFrom("audit_logs")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("seq", ">", after)
    .orderBy("seq")
    .execute();
