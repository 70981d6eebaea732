import { Problem } from "../../contract/errors.ts";
import { listKeys } from "../../platform/admin/keys.ts";
import { createResetLink, setPassword, type UserName } from "../../platform/admin/passwords.ts";
import { deleteUser, listUsers } from "../../platform/admin/people.ts";
import { exportUser } from "../../platform/admin/person-export.ts";
import {
  deleteRole,
  listTenantRoles,
  type RoleName,
  updateRole,
} from "../../platform/admin/roles.ts";
import { exportTenant } from "../../platform/admin/tenant-export.ts";
import { importTenant } from "../../platform/admin/tenant-import.ts";
import { deleteTenant } from "../../platform/admin/tenant-removal.ts";
import { listTenants } from "../../platform/admin/tenants.ts";
import { DEMO_OWNER } from "../../platform/demo/load.ts";
import { createResetTokens } from "../../platform/reset-tokens.ts";
import { createSeal } from "../../kit/seal.ts";
import { SEALS } from "../../platform/store/sealed-columns.ts";
import { fold } from "../../platform/store/fold.ts";
import { createMasterKeyReader } from "../folder.ts";
import type { Io } from "../io.ts";
import { type Base, openOwnFiles } from "../platform.ts";
import { printFromStore, readNewPassword, withStore } from "./admin.ts";
import { withVault } from "./secrets.ts";

const printAll = (io: Io, items: readonly object[]): void => {
  for (const item of items) io.print(item);
};

/** Returns the repeated name of what is deleted; asks for it at a terminal. */
const readConfirm = async (io: Io, confirm: string | undefined, name: string) => {
  const typed = confirm ?? (await io.ask?.line(`Type ${name} to delete it`));
  return typed === undefined ? {} : { confirm: typed };
};

export const runTenantList = (io: Io) =>
  withStore(io, async ({ store }) => printAll(io, await listTenants(store)));

export const runTenantDelete = async (
  io: Io,
  { tenantId, confirm }: { tenantId: string; confirm?: string },
) => {
  const wish = { tenantId, ...(await readConfirm(io, confirm, tenantId)) };
  const removeSecrets = () =>
    withVault(io.config, async (vault) => {
      const own = (await vault.list()).filter((secret) => secret.tenantId === tenantId);
      await Promise.all(own.map(({ name }) => vault.remove(name)));
      return own.length;
    });
  return printFromStore(io, async (base) =>
    deleteTenant({ ...base, files: await openOwnFiles(base, io.config), removeSecrets }, wish),
  );
};

const openMove = async (io: Io, base: Base) => ({
  ...base,
  files: await openOwnFiles(base, io.config),
  secrets: createSeal(await createMasterKeyReader(io.config)(), SEALS.webhook),
});

export const runTenantExport = (io: Io, wish: { tenantId: string; folder: string }) =>
  printFromStore(io, async (base) => exportTenant(await openMove(io, base), wish));

export const runTenantImport = (io: Io, folder: string) =>
  printFromStore(io, async (base) => importTenant(await openMove(io, base), folder));

export const runRoleList = (io: Io, tenantId: string) =>
  withStore(io, async ({ store }) => printAll(io, await listTenantRoles(store.read, tenantId)));

export const runRoleUpdate = (io: Io, change: Parameters<typeof updateRole>[1]) =>
  printFromStore(io, (base) => updateRole(base, change));

export const runRoleDelete = async (
  io: Io,
  { confirm, ...role }: RoleName & { confirm?: string },
) => {
  const wish = { ...role, ...(await readConfirm(io, confirm, role.name)) };
  return printFromStore(io, (base) => deleteRole(base, wish));
};

export const runUserList = (io: Io, tenantId: string | undefined) =>
  withStore(io, async ({ store }) => {
    for await (const user of listUsers(store, tenantId)) io.print(user);
  });

// The embedded server signs in as this user with a password and a key that it has sealed.
const checkNotDemo = ({ email }: UserName): void => {
  if (fold(email.trim()) !== fold(DEMO_OWNER.email)) return;
  throw new Problem(
    "conflict",
    `${DEMO_OWNER.email} is the demo tenant's own user, whose password is generated. Create another one: admin user create --tenant demo.`,
  );
};

export const runSetPassword = async (io: Io, user: UserName) => {
  checkNotDemo(user);
  return printFromStore(io, (base) => setPassword(base, user, () => readNewPassword(io)));
};

/** The address at which people reach the server that `npm start` runs. */
const DEFAULT_URL = "http://127.0.0.1:8765";

export const runResetLink = async (io: Io, user: UserName) => {
  checkNotDemo(user);
  const { publicUrl } = io.config;
  if (publicUrl === undefined) {
    io.tell(`RECEIVABLES_PUBLIC_URL is not set, so the link begins with ${DEFAULT_URL}.`);
  }
  return printFromStore(io, async (base) => {
    const tokens = createResetTokens(await createMasterKeyReader(io.config)(), base.clock);
    return createResetLink({ ...base, tokens }, user, publicUrl ?? DEFAULT_URL);
  });
};

export const runUserDelete = async (
  io: Io,
  { confirm, ...user }: UserName & { confirm?: string },
) => {
  checkNotDemo(user);
  const wish = { ...user, ...(await readConfirm(io, confirm, user.email)) };
  return printFromStore(io, (base) => deleteUser(base, wish));
};

export const runUserExport = (io: Io, user: UserName) =>
  printFromStore(io, (base) => exportUser(base, user));

export const runKeyList = (io: Io, tenantId: string | undefined) =>
  withStore(io, async ({ store }) => printAll(io, await listKeys(store.read, tenantId)));
