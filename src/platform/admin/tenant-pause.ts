/** A pause, during which a tenant's records and audit log stay as they are, so that a copy has all of them. */
import { setTimeout } from "node:timers/promises";
import { Problem } from "../../contract/errors.ts";
import { planJobs } from "../services/waiting-jobs.ts";
import { pauseChain, resumeChain } from "../store/audit/chain.ts";
import type { Store } from "../store/port.ts";
import { countTenantJobs, removeTenantJobs } from "../store/queries/jobs.ts";
import { updateTenant } from "../store/queries/tenants.ts";
import { type AdminNeeds, checkTenantExists } from "./tenants.ts";

export type PausedTenant = {
  tenantId: string;
  phase: "paused";
  /** Jobs that a node was still running after a minute, so that they were taken from it; they begin anew later. */
  jobsEnded: number;
};

const POLL_MS = 200;
/** A minute: the claim of a node that has crashed ends meanwhile. */
const MOST_POLLS = 300;

/**
 * Removes the tenant's jobs once no node runs them: the records say which ones to plan when the tenant goes on. A job
 * that is taken from a node cannot write its result.
 */
const endJobs = async (store: Store, clock: () => number, tenantId: string): Promise<number> => {
  const removeFree = () =>
    store.transaction((tx) => removeTenantJobs(tx, tenantId, clock()), tenantId);
  for (let polls = 0; polls < MOST_POLLS; polls += 1) {
    await removeFree();
    if ((await countTenantJobs(store.read, tenantId)) === 0) return 0;
    await setTimeout(POLL_MS);
  }
  return store.transaction((tx) => removeTenantJobs(tx, tenantId), tenantId);
};

/**
 * Pauses a tenant: once this returns, nothing of it changes until it is resumed. Requests that would change something
 * or add an audit entry are refused. A repeated call completes one that was interrupted.
 *
 * @throws {Problem} not_found, conflict
 */
export const pauseTenant = async (
  { store, clock, record }: AdminNeeds,
  tenantId: string,
): Promise<PausedTenant> => {
  await store.transaction(async (tx) => {
    const { phase } = await checkTenantExists(tx, tenantId);
    if (phase === "paused") return;
    await updateTenant(tx, tenantId, { phase: "paused" });
    await record?.(tx, { tenantId, action: "admin.tenant_paused", resourceId: tenantId });
    await pauseChain(tx, tenantId);
  }, tenantId);
  return { tenantId, phase: "paused", jobsEnded: await endJobs(store, clock, tenantId) };
};

/** Lets a paused tenant go on, with the work that waits for it. @throws {Problem} not_found, conflict */
export const resumeTenant = ({ store, clock, record }: AdminNeeds, tenantId: string) =>
  store.transaction(async (tx) => {
    const { phase } = await checkTenantExists(tx, tenantId);
    if (phase === null) throw new Problem("conflict", `The tenant ${tenantId} is not paused.`);
    await updateTenant(tx, tenantId, { phase: null });
    await resumeChain(tx, tenantId);
    // A pause that was interrupted has left some.
    await removeTenantJobs(tx, tenantId);
    await planJobs(tx, { tenantId, now: clock() });
    await record?.(tx, { tenantId, action: "admin.tenant_resumed", resourceId: tenantId });
    return { tenantId, phase: null };
  }, tenantId);
