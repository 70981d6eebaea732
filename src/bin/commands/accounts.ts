import { Problem } from "../../contract/errors.ts";
import { listKeys } from "../../platform/admin/keys.ts";
import { createResetLink, setPassword, type UserName } from "../../platform/admin/passwords.ts";
import { deleteUser, listUsers } from "../../platform/admin/people.ts";
import { exportUser } from "../../platform/admin/person-export.ts";
import { deleteRole, listTenantRoles, updateRole } from "../../platform/admin/roles.ts";
import { exportTenant } from "../../platform/admin/tenant-export.ts";
import { importTenant } from "../../platform/admin/tenant-import.ts";
import { pauseTenant, resumeTenant } from "../../platform/admin/tenant-pause.ts";
import { deleteTenant } from "../../platform/admin/tenant-removal.ts";
import { listTenants } from "../../platform/admin/tenants.ts";
import { DEMO_OWNER } from "../../platform/demo/load.ts";
import { createResetTokens } from "../../platform/reset-tokens.ts";
import { createSeal } from "../../kit/seal.ts";
import { SEALS } from "../../platform/store/sealed-columns.ts";
import { fold } from "../../platform/store/engine/fold.ts";
import { createMasterKeyReader } from "../../config/folder.ts";
import type { Io } from "./io.ts";
import { type Base, openOwnFiles } from "../compose/platform.ts";
import { printFromStore, readNewPassword, withStore } from "./admin.ts";
import { withVault } from "./secrets.ts";

const printAll = (io: Io, items: readonly object[]): void => {
  for (const item of items) io.print(item);
};

type OfTenant = { tenant: string };
type Confirm = { confirm?: string };
type UserOptions = { email: string; tenant?: string };

const toUserName = ({ email, tenant: tenantId }: UserOptions): UserName => ({ email, tenantId });

/** Returns the repeated name of what is deleted; asks for it at a terminal. */
const readConfirm = (io: Io, { confirm }: Confirm, name: string) =>
  confirm ?? io.ask?.line(`Type ${name} to delete it`);

export const runTenantList = (io: Io) =>
  withStore(io, async ({ store }) => printAll(io, await listTenants(store)));

export const runTenantDelete = async (io: Io, tenantId: string, options: Confirm) => {
  const confirm = await readConfirm(io, options, tenantId);
  const removeSecrets = () =>
    withVault(io.config, async (vault) => {
      const own = (await vault.list()).filter((secret) => secret.tenantId === tenantId);
      await Promise.all(own.map(({ name }) => vault.remove(name)));
      return own.length;
    });
  return printFromStore(io, async (base) => {
    const files = await openOwnFiles(base, io.config);
    return deleteTenant({ ...base, files, removeSecrets }, { tenantId, confirm });
  });
};

const openMove = async (io: Io, base: Base) => {
  const masterKey = await createMasterKeyReader(io.config)();
  return {
    ...base,
    files: await openOwnFiles(base, io.config),
    secrets: createSeal(masterKey, SEALS.webhook),
    answers: createSeal(masterKey, SEALS.answer),
  };
};

export const runTenantPause = (io: Io, tenantId: string) =>
  printFromStore(io, (base) => pauseTenant(base, tenantId));

export const runTenantResume = (io: Io, tenantId: string) =>
  printFromStore(io, (base) => resumeTenant(base, tenantId));

export const runTenantExport = (io: Io, tenantId: string, folder: string) =>
  printFromStore(io, async (base) => exportTenant(await openMove(io, base), { tenantId, folder }));

export const runTenantImport = (io: Io, folder: string) =>
  printFromStore(io, async (base) => importTenant(await openMove(io, base), folder), {
    canCreate: true,
  });

export const runRoleList = (io: Io, { tenant }: OfTenant) =>
  withStore(io, async ({ store }) => printAll(io, await listTenantRoles(store.read, tenant)));

export const runRoleUpdate = (
  io: Io,
  {
    tenant: tenantId,
    name,
    rename,
    grant: grants,
  }: OfTenant & { name: string; rename?: string; grant?: string[] },
) => printFromStore(io, (base) => updateRole(base, { tenantId, name, rename, grants }));

export const runRoleDelete = async (
  io: Io,
  { tenant: tenantId, name, ...options }: OfTenant & { name: string } & Confirm,
) => {
  const confirm = await readConfirm(io, options, name);
  return printFromStore(io, (base) => deleteRole(base, { tenantId, name, confirm }));
};

export const runUserList = (io: Io, { tenant }: Partial<OfTenant>) =>
  withStore(io, async ({ store }) => {
    for await (const user of listUsers(store, tenant)) io.print(user);
  });

// The embedded server signs in as this user with a password and a key that it has sealed.
const checkNotDemo = ({ email }: UserOptions): void => {
  if (fold(email.trim()) !== fold(DEMO_OWNER.email)) return;
  throw new Problem(
    "conflict",
    `${DEMO_OWNER.email} is the demo tenant's own user, whose password is generated. Create another one: admin user create --tenant demo.`,
  );
};

export const runSetPassword = async (io: Io, user: UserOptions) => {
  checkNotDemo(user);
  return printFromStore(io, (base) =>
    setPassword(base, toUserName(user), () => readNewPassword(io)),
  );
};

/** The address at which people reach the server that `npm start` runs. */
const DEFAULT_URL = "http://127.0.0.1:8765";

/** Returns the address with which links to this server's pages begin. */
export const readPublicUrl = ({ config: { publicUrl }, notify }: Io): string => {
  if (publicUrl !== undefined) return publicUrl;
  notify(`RECEIVABLES_PUBLIC_URL is not set, so the link begins with ${DEFAULT_URL}.`);
  return DEFAULT_URL;
};

export const runResetLink = async (io: Io, user: UserOptions) => {
  checkNotDemo(user);
  const publicUrl = readPublicUrl(io);
  return printFromStore(io, async (base) => {
    const tokens = createResetTokens(await createMasterKeyReader(io.config)(), base.clock);
    return createResetLink({ ...base, tokens }, toUserName(user), publicUrl);
  });
};

export const runUserDelete = async (io: Io, options: UserOptions & Confirm) => {
  checkNotDemo(options);
  const confirm = await readConfirm(io, options, options.email);
  return printFromStore(io, (base) => deleteUser(base, { ...toUserName(options), confirm }));
};

export const runUserExport = (io: Io, user: UserOptions) =>
  printFromStore(io, (base) => exportUser(base, toUserName(user)));

export const runKeyList = (io: Io, { tenant }: Partial<OfTenant>) =>
  withStore(io, async ({ store }) => printAll(io, await listKeys(store.read, tenant)));
