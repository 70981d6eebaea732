import { Problem } from "../../contract/errors.ts";
import type { Resolution } from "../../contract/operations/resolutions.ts";
import { describeMissing, changeFields, flag } from "../services/records.ts";
import { toResolution } from "../services/resolutions.ts";
import type { Db } from "../store/port.ts";
import {
  findResolutionByCode,
  findResolutionForClosedInvoices,
  updateResolution,
} from "../store/queries/resolutions.ts";
import { OPERATOR } from "./changes.ts";
import { type AdminNeeds, checkTenantExists } from "./tenants.ts";

type Setting = { tenantId: string; code: string; value: boolean };

const checkSole = async (tx: Db, tenantId: string, id: string): Promise<void> => {
  const holder = await findResolutionForClosedInvoices(tx, tenantId);
  if (holder === undefined || holder.id === id) return;
  throw new Problem(
    "conflict",
    `The resolution ${holder.code} is applied when an invoice is closed; only one can be. Set it to false first.`,
  );
};

/** Sets whether the resolution closes a document's open disputes when the document closes. */
export const setApplyWhenInvoiceClosed = (
  { store, clock, record }: Omit<AdminNeeds, "newId">,
  { tenantId, code, value }: Setting,
): Promise<Resolution> =>
  store.transaction(async (tx) => {
    await checkTenantExists(tx, tenantId);
    const found = await findResolutionByCode(tx, tenantId, code);
    if (found === undefined)
      throw new Problem("not_found", describeMissing("resolution", "code", code));
    if (value) await checkSole(tx, tenantId, found.id);
    const row = await updateResolution(tx, {
      ...found,
      apply_when_invoice_closed: flag(value),
      ...changeFields(found, { caller: OPERATOR, now: clock() }),
    });
    const metadata = { applyWhenInvoiceClosed: value };
    const change = { tenantId, resourceId: row.id, metadata };
    await record?.(tx, { ...change, action: "admin.resolution_set" });
    return toResolution(row);
  });
