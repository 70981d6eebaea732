import { setImmediate } from "node:timers/promises";
import { Problem } from "../../contract/errors.ts";
import { resumeChain } from "../store/audit/chain.ts";
import { abandonFiles } from "../files/unclaimed.ts";
import type { FileStore } from "../files/port.ts";
import type { Db, Store } from "../store/port.ts";
import {
  ACCESS_TABLES,
  OTHER_TABLES,
  RECORD_TABLES,
  removeTenantRows,
} from "../store/queries/tenant-tables.ts";
import { removeMemberships } from "../store/queries/memberships.ts";
import { findTenant, removeTenant, type Tenant, updateTenant } from "../store/queries/tenants.ts";
import { removeUser } from "../store/queries/users.ts";
import type { Tables } from "../store/tables/schema.ts";
import { type SignedHead, signHead } from "./audit.ts";
import { checkConfirmed } from "./confirm.ts";
import { type AdminNeeds, createUnknownTenant } from "./tenants.ts";

export type RemovedTenant = {
  tenantId: string;
  deleted: true;
  rows: number;
  files: number;
  /** People who belonged to no other tenant. */
  people: number;
  /** Secrets that tools stored for its people. */
  secrets: number;
  /** The signed end of the deleted audit log; null if it was changed, or the deletion had begun before. */
  auditHead: SignedHead | null;
};

type Needs = AdminNeeds & {
  files: FileStore;
  /** Removes the secrets that tools stored for the tenant's people and returns how many. */
  removeSecrets?: () => Promise<number>;
};

/** Rows per transaction: other writers of an embedded store wait for one of them at a time. */
const ROWS_AT_ONCE = 200;

/** Repeats a short transaction until it finds nothing more; returns the sum of what it removed. */
const repeat = async (store: Store, act: (tx: Db) => Promise<number>): Promise<number> => {
  for (let sum = 0; ;) {
    // Short transactions, so that other writers get their turn.
    const removed = await store.transaction(act);
    sum += removed;
    if (removed < ROWS_AT_ONCE) return sum;
    // An embedded store awaits nothing that would let signals and other work in.
    await setImmediate();
  }
};

const removeAll = async ({ store }: Needs, tenantId: string, tables: readonly (keyof Tables)[]) => {
  let rows = 0;
  for (const table of tables) {
    rows += await repeat(store, (tx) => removeTenantRows(tx, table, tenantId, ROWS_AT_ONCE));
  }
  return rows;
};

/** Removes a tenant's members, and the people who belong to no other tenant. */
const removeMembers = async ({ store }: Needs, tenantId: string) => {
  let people = 0;
  const rows = await repeat(store, async (tx) => {
    const members = await removeMemberships(tx, tenantId, ROWS_AT_ONCE);
    for (const { userId, hasOthers } of members) {
      if (hasOthers) continue;
      await removeUser(tx, userId);
      people += 1;
    }
    return members.length;
  });
  return { rows, people };
};

const removeFiles = async ({ files }: Needs, { connection_id }: Tenant): Promise<number> => {
  let count = 0;
  for await (const { key } of files.list(connection_id)) {
    await files.remove(key);
    count += 1;
  }
  return count;
};

const begin = ({ store, record }: Needs, tenant: Tenant): Promise<void> =>
  store.transaction(async (tx) => {
    if (tenant.phase === "deleting") return;
    const { id: tenantId } = tenant;
    await updateTenant(tx, tenantId, { phase: "deleting" });
    // The log of a tenant that is still being imported has no end yet, at which an entry could be added.
    if (tenant.phase === "importing") return;
    await resumeChain(tx, tenantId);
    await record?.(tx, { tenantId, action: "admin.tenant_deleted", resourceId: tenantId });
  }, tenant.id);

const end = ({ store, clock }: Needs, { id, connection_id: connectionId }: Tenant): Promise<void> =>
  store.transaction(async (tx) => {
    // A second command may have been faster.
    if (!(await removeTenant(tx, id))) return;
    await abandonFiles(tx, { tenantId: "", connectionId, now: clock() });
  });

const isComplete = ({ phase }: Tenant): boolean => phase === null || phase === "paused";

/** Returns the signed end of the log; null where it was changed outside the program. */
const findSignedHead = async (needs: Needs, tenantId: string): Promise<SignedHead | null> => {
  try {
    return await signHead(needs, tenantId);
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
};

/**
 * Deletes a tenant with everything that belongs to it, in short transactions. Access ends first; the tenant's own row
 * goes last, so a command that was interrupted can run again.
 *
 * @throws {Problem} not_found, invalid_request
 */
export const deleteTenant = async (
  needs: Needs,
  { tenantId, confirm }: { tenantId: string; confirm?: string | undefined },
): Promise<RemovedTenant> => {
  const { store } = needs;
  const tenant = await findTenant(store.read, tenantId);
  if (tenant === undefined) throw createUnknownTenant(tenantId);
  checkConfirmed([tenantId, tenant.name], confirm);
  const auditHead = isComplete(tenant) ? await findSignedHead(needs, tenantId) : null;
  await begin(needs, tenant);
  const { rows: members, people } = await removeMembers(needs, tenantId);
  const tables = [
    ...Object.keys(ACCESS_TABLES),
    ...Object.keys(RECORD_TABLES),
    ...Object.keys(OTHER_TABLES),
  ] as (keyof Tables)[];
  let rows = members + (await removeAll(needs, tenantId, tables));
  let files = await removeFiles(needs, tenant);
  // Requests that were under way may have added more since.
  rows += await removeAll(needs, tenantId, tables);
  const secrets = (await needs.removeSecrets?.()) ?? 0;
  await end(needs, tenant);
  files += await removeFiles(needs, tenant);
  return { tenantId, deleted: true, rows, files, people, secrets, auditHead };
};
