import { readFile } from "node:fs/promises";
import { z } from "zod";
import { Problem } from "../../contract/errors.ts";
import { randomToken } from "../../kit/ids.ts";
import { replacePrivateFile } from "../../kit/replace-file.ts";
import { createSeal } from "../../kit/seal.ts";
import { Secret } from "../../kit/secret.ts";
import { insertExportKey } from "../admin/keys.ts";
import type { AdminNeeds } from "../admin/tenants.ts";
import { insertUser } from "../admin/users.ts";
import { insertApiKey } from "../credentials.ts";
import { DEMO_OWNER, DEMO_TENANT, type DemoOwner, loadDemo, type LoadStep } from "./load.ts";
import type { FileStore } from "../files/port.ts";
import { hashPassword } from "../passwords.ts";
import type { Db } from "../store/port.ts";
import { findTenant, hasTenant } from "../store/queries/tenants.ts";
import { findUserByEmail, setPasswordHash } from "../store/queries/users.ts";

const Sealed = z.object({
  email: z.string(),
  password: z.string(),
  apiKey: z.string(),
  extApiKey: z.string(),
});
type Sealed = z.infer<typeof Sealed>;

export type DemoCredentials = {
  email: string;
  password: Secret;
  apiKey: Secret;
  extApiKey: Secret;
};

const toCredentials = (sealed: Sealed): DemoCredentials => ({
  email: sealed.email,
  password: new Secret(sealed.password),
  apiKey: new Secret(sealed.apiKey),
  extApiKey: new Secret(sealed.extApiKey),
});

const { tenantId } = DEMO_TENANT;

export type DemoNeeds = AdminNeeds & {
  files: FileStore;
  progress?: (step: LoadStep) => void;
  masterKey: Buffer;
  /** Path of the sealed credentials. */
  path: string;
};

/** The seal around the demo tenant's credentials. */
export const sealOf = ({ masterKey }: Pick<DemoNeeds, "masterKey">) =>
  createSeal(masterKey, "demo-credentials");

const readCredentials = async (needs: DemoNeeds): Promise<DemoCredentials | undefined> => {
  const text = await readFile(needs.path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const { data } = Sealed.safeParse(sealOf(needs).open(text));
  if (data !== undefined) return toCredentials(data);
  throw new Error(
    `${needs.path} does not open with this master key. Restore the key, or remove the file.`,
  );
};

/** Creates the owner's keys and seals them. */
const sealCredentials = async (
  needs: DemoNeeds,
  { tx, owner, password }: { tx: Db; owner: DemoOwner; password: string },
): Promise<void> => {
  const { apiKey } = await insertApiKey(tx, needs, owner);
  const name = "Embedded MCP server";
  const { apiKey: extApiKey } = await insertExportKey(tx, needs, { tenantId, name });
  const sealed: Sealed = { email: DEMO_OWNER.email, password, apiKey, extApiKey };
  // Before the commit, under the store's lock: a process that sees the tenant finds its credentials.
  replacePrivateFile(needs.path, sealOf(needs).seal(sealed));
};

const resetOwner = async (tx: Db, needs: AdminNeeds, passwordHash: string): Promise<string> => {
  const owner = await findUserByEmail(tx, DEMO_OWNER.email);
  if (owner === undefined) {
    const made = { tenantId, ...DEMO_OWNER, roles: ["Administrator"] };
    return insertUser(tx, needs, made, passwordHash);
  }
  await setPasswordHash(tx, owner.id, passwordHash);
  return owner.id;
};

/** Loads the demo tenant, and returns whether this call did; another process may have been faster. */
const load = async (needs: DemoNeeds, byCommand: boolean): Promise<boolean> => {
  const password = randomToken();
  const passwordHash = hashPassword(password);
  const loaded = await loadDemo({
    ...needs,
    passwordHash,
    async credentials(tx, owner) {
      const change = { tenantId, action: "admin.demo_created", resourceId: tenantId } as const;
      if (byCommand) await needs.record?.(tx, change);
      await sealCredentials(needs, { tx, owner, password });
    },
  });
  if (loaded) return true;
  await needs.store.transaction(async (tx) => {
    // The tenant exists. Its credentials are there too, unless their file was removed.
    if ((await readCredentials(needs)) !== undefined) return;
    const userId = await resetOwner(tx, needs, await passwordHash);
    await sealCredentials(needs, { tx, owner: { tenantId, userId }, password });
  }, tenantId);
  return false;
};

/**
 * Returns the demo tenant's credentials. Creates the tenant where `mayCreate` says so and the store has no tenant yet;
 * otherwise returns undefined where it has none. Several processes may call it at once.
 */
export const ensureDemo = async (
  needs: DemoNeeds,
  mayCreate: boolean,
): Promise<DemoCredentials | undefined> => {
  const { read } = needs.store;
  const exists = (await findTenant(read, tenantId)) !== undefined;
  const known = await readCredentials(needs);
  if (exists && known !== undefined) return known;
  if (!mayCreate || (!exists && (await hasTenant(read)))) return undefined;
  await load(needs, false);
  return readCredentials(needs);
};

/** Creates the demo tenant. @throws {Problem} conflict, where there is one. */
export const createDemo = async (needs: DemoNeeds): Promise<object> => {
  const exists = (await findTenant(needs.store.read, tenantId)) !== undefined;
  if (exists || !(await load(needs, true))) {
    throw new Problem("conflict", `The tenant ${tenantId} exists already.`);
  }
  return { ...DEMO_TENANT, owner: DEMO_OWNER.email, credentials: needs.path };
};
