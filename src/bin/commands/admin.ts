import { verifyAudit } from "../../platform/admin/audit.ts";
import { issueKey, revokeKey } from "../../platform/admin/keys.ts";
import { setApplyWhenInvoiceClosed } from "../../platform/admin/resolutions.ts";
import { createRole } from "../../platform/admin/roles.ts";
import { setRoute } from "../../platform/admin/routes.ts";
import {
  createTenant,
  type NewTenant,
  setTenant,
  showTenant,
} from "../../platform/admin/tenants.ts";
import { createUser, type NewUser, updateUser } from "../../platform/admin/users.ts";
import type { Io } from "../io.ts";
import { type Base, openBase } from "../platform.ts";

// Commands work on the store itself, also while servers run on it.
const withStore = async <T>(io: Io, act: (base: Base) => Promise<T>): Promise<T> => {
  const base = await openBase(io.config);
  try {
    return await act(base);
  } finally {
    await base.store.close();
  }
};

const onStore = async (io: Io, act: (base: Base) => Promise<object>): Promise<void> => {
  io.print(await withStore(io, act));
};

/** All of standard input, less the newline that a shell adds. */
const passwordFrom = async (io: Io): Promise<string> =>
  (await io.readInput()).replace(/\r?\n$/, "");

export const tenantCreate = (io: Io, made: NewTenant) =>
  onStore(io, (base) => createTenant(base, made));

export const tenantShow = (io: Io, tenantId: string) =>
  onStore(io, (base) => showTenant(base, tenantId));

export const tenantSet = (io: Io, tenantId: string, pairs: string[]) =>
  onStore(io, (base) => setTenant(base, tenantId, pairs));

export const roleCreate = (io: Io, made: Parameters<typeof createRole>[1]) =>
  onStore(io, (base) => createRole(base, made));

export const userCreate = (io: Io, made: NewUser) =>
  onStore(io, (base) => createUser(base, made, () => passwordFrom(io)));

export const userUpdate = (io: Io, change: Parameters<typeof updateUser>[1]) =>
  onStore(io, (base) => updateUser(base, change));

export const resolutionSet = (io: Io, wish: { tenantId: string; code: string; value: boolean }) =>
  onStore(io, (base) => setApplyWhenInvoiceClosed(base, wish));

export const routeSet = (io: Io, wish: Parameters<typeof setRoute>[1]) =>
  onStore(io, (base) => setRoute(base, wish));

export const keyIssue = (io: Io, made: Parameters<typeof issueKey>[1]) =>
  onStore(io, (base) => issueKey(base, made));

/** Prints the verdict, and fails where it is a bad one. */
export const auditVerify = async (io: Io, tenantId: string): Promise<void> => {
  const verdict = await withStore(io, (base) => verifyAudit(base, tenantId));
  io.print(verdict);
  const { ok, sealedTo, firstBadId } = verdict;
  if (ok) return;
  const from = firstBadId === null ? "after it entries are missing" : `not so entry ${firstBadId}`;
  throw new Error(
    `The audit log was changed: up to entry number ${sealedTo} it is whole, ${from}.`,
  );
};

export const keyRevoke = (io: Io, keyId: string) => onStore(io, (base) => revokeKey(base, keyId));
