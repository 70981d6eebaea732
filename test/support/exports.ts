import { formatTimestamp } from "../../src/kit/clock.ts";
import {
  addPayments as insertPayments,
  takeSeqs,
} from "../../src/platform/store/queries/payments.ts";
import type { Store } from "../../src/platform/store/port.ts";
import type { Caller, TestPlatform } from "./platform.ts";

export const EXPORTS = "/api/v1/remittance-export";
export const SCHEDULES = `${EXPORTS}/schedules`;

const BATCH = 2000;

/** Adds payments to a tenant's cash application, numbered from `from`; the customer pays 10 for each. */
export const addPayments = async (
  { store, now }: { store: Store; now: number },
  tenantId: string,
  { from, count }: { from: number; count: number },
): Promise<void> => {
  for (let done = 0; done < count; done += BATCH) {
    const size = Math.min(BATCH, count - done);
    await store.transaction(async (tx) => {
      const first = await takeSeqs(tx, tenantId, "cashapp", size);
      const rows = Array.from({ length: size }, (_, index) => ({
        tenantId,
        seq: first + index,
        sentHash: "",
        values: {
          id: `payment-${from + done + index}`,
          tenantId,
          createdAt: formatTimestamp(now),
          updatedAt: formatTimestamp(now),
          paymentId: `payment-${from + done + index}`,
          payerName: 'Müller & "Söhne",\n Ltd',
          currencyCode: "EUR",
          paymentAmount: 10,
        },
      }));
      await insertPayments(tx, "cashapp", rows);
    }, tenantId);
  }
};

/** A query that every payment of {@link addPayments} meets. */
export const everyPayment = {
  source: "cashapp",
  fields: ["id", "payerName", "paymentAmount"],
  filters: { currencyCode: { eq: "EUR" } },
};

export const paymentIds = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `payment-${from + index}`);

/** A tenant with payments, and what its key can do. */
export const exportingTenant = async (
  at: TestPlatform,
  id: string,
  payments: number,
): Promise<Caller> => {
  await at.tenant(id);
  await addPayments({ store: at.store, now: at.clock() }, id, { from: 1, count: payments });
  return at.exportCaller(id);
};

export type Run = {
  runId: string;
  scheduleId: string;
  status: string;
  startedAt: string | null;
  completedAt: string | null;
  rowCount: number;
  errorStage: string | null;
  errorDetail: string | null;
};

export const runsOf = async (call: Caller, scheduleId: string): Promise<Run[]> =>
  (await call("GET", `${EXPORTS}/export-runs/${scheduleId}/status`)).body.data;
