import { SOURCES } from "../../../contract/payments/catalogue.ts";
import { hashOf } from "../../import/payments/row.ts";
import { addPayments, takeSeqs } from "../../store/payments.ts";
import type { Db } from "../../store/port.ts";
import type { Payments } from "./payments.ts";

/** Adds them in their order, so that a row's number tells what was there when it came. */
export const insertPayments = async (tx: Db, tenantId: string, all: Payments): Promise<void> => {
  for (const source of SOURCES) {
    const rows = all[source];
    // oxlint-disable no-await-in-loop -- one connection
    const first = await takeSeqs(tx, tenantId, source, rows.length);
    await addPayments(
      tx,
      source,
      rows.map((values, place) => ({
        tenantId,
        seq: first + place,
        sentHash: hashOf(values),
        values,
      })),
    );
    // oxlint-enable no-await-in-loop
  }
};
