import { listDoubts, settleDoubt } from "../../platform/admin/doubts.ts";
import { matchPayments } from "../../platform/admin/payments.ts";
import { checkTenantExists } from "../../platform/admin/tenants.ts";
import type { Io } from "./io.ts";
import { printFromStore, withStore } from "./admin.ts";

export const runPaymentsMatch = (io: Io, tenantId: string) =>
  printFromStore(io, (base) => matchPayments(base, tenantId));

/** Lists the payments that may repeat another one, one per line. */
export const runDoubtList = (io: Io, tenantId: string): Promise<void> =>
  withStore(io, async ({ store }) => {
    await checkTenantExists(store.read, tenantId);
    for (const one of await listDoubts(store.read, tenantId)) io.print(one);
  });

const settleAs = (as: "same" | "different") => (io: Io, tenantId: string, id: string) =>
  printFromStore(io, (base) => settleDoubt(base, { tenantId, id, as }));

export const runDoubtSame = settleAs("same");

export const runDoubtDifferent = settleAs("different");
