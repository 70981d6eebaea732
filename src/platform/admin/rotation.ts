import type { Clock } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import { createSeal, type MasterKey } from "../../kit/seal.ts";
import { type Renewal, renewColumn } from "../../kit/sealed-column.ts";
import {
  listTenantsOfFormerKeys,
  retireAuditKeys,
  takeOverChain,
} from "../store/audit/rotation.ts";
import type { Store } from "../store/port.ts";
import { SEALED_COLUMNS } from "../store/sealed-columns.ts";

export type StoreRotation = Record<string, Renewal> & { auditLogs: Renewal };

type Needs = { store: Store; masterKey: MasterKey; clock: Clock; newId: NewId; operator: string };

/** Lets every audit chain go on under the current key, a tenant at a time. */
const rotateChains = async ({ store, masterKey, ...needs }: Needs): Promise<Renewal> => {
  const { auditKey } = store;
  await store.transaction((tx) => retireAuditKeys(tx, masterKey, needs.clock()));
  const tenants = await listTenantsOfFormerKeys(store.read, auditKey);
  for (const tenantId of tenants) {
    // Requests get their turn between two tenants.
    await store.transaction((tx) => takeOverChain(tx, auditKey, tenantId, needs), tenantId);
  }
  return { renewed: tenants.length, unreadable: 0 };
};

/** Seals again what former master keys sealed in the store, also while servers run; a second call does the rest. */
export const rotateStore = async (needs: Needs): Promise<StoreRotation> => {
  const { store, masterKey } = needs;
  const results: Record<string, Renewal> = {};
  for (const [name, column] of Object.entries(SEALED_COLUMNS)) {
    // One after the other, so that requests get their turn.
    results[name] = await renewColumn(
      (act) => store.transaction(act),
      column,
      createSeal(masterKey, column.purpose),
    );
  }
  return { ...results, auditLogs: await rotateChains(needs) };
};
