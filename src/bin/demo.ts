import { readFile } from "node:fs/promises";
import { z } from "zod";
import { randomToken } from "../kit/ids.ts";
import { replacePrivateFile } from "../kit/replace-file.ts";
import { createSeal } from "../kit/seal.ts";
import { Secret } from "../kit/secret.ts";
import { insertApiKey, insertExportKey } from "../platform/admin/keys.ts";
import { insertUser } from "../platform/admin/users.ts";
import { DEMO_OWNER, DEMO_TENANT, type DemoOwner, loadDemo } from "../platform/demo/load.ts";
import type { FileStore } from "../platform/files/port.ts";
import { hashPassword } from "../platform/passwords.ts";
import type { Db } from "../platform/store/port.ts";
import { findTenant } from "../platform/store/tenants.ts";
import { findUserByEmail } from "../platform/store/users.ts";
import type { Base } from "./platform.ts";

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

const secretsOf = (sealed: Sealed): DemoCredentials => ({
  email: sealed.email,
  password: new Secret(sealed.password),
  apiKey: new Secret(sealed.apiKey),
  extApiKey: new Secret(sealed.extApiKey),
});

const { tenantId } = DEMO_TENANT;

export type DemoNeeds = Base & {
  files: FileStore;
  masterKey: Buffer;
  /** Where its credentials are kept, sealed. */
  path: string;
};

/** The demo tenant's credentials; makes them, and the tenant, where there are none. Many processes may ask at once. */
export const ensureDemo = async (needs: DemoNeeds): Promise<DemoCredentials> => {
  const { store, path } = needs;
  const seal = createSeal(needs.masterKey, "demo-credentials");

  const read = async (): Promise<DemoCredentials | undefined> => {
    const text = await readFile(path, "utf8").catch(() => undefined);
    if (text === undefined) return undefined;
    const { data } = Sealed.safeParse(seal.open(text));
    if (data !== undefined) return secretsOf(data);
    throw new Error(
      `${path} does not open with this master key; put the key back, or remove the file`,
    );
  };

  const known = await read();
  if (known !== undefined && (await findTenant(store.read, tenantId)) !== undefined) return known;

  const password = randomToken();
  const passwordHash = await hashPassword(password);
  // Written before the commit, under the store's lock: whoever sees the tenant finds its credentials.
  const credentials = async (tx: Db, owner: DemoOwner): Promise<void> => {
    const { apiKey } = await insertApiKey(tx, needs, owner);
    const name = "Embedded MCP server";
    const { apiKey: extApiKey } = await insertExportKey(tx, needs, { tenantId, name });
    const sealed: Sealed = { email: DEMO_OWNER.email, password, apiKey, extApiKey };
    replacePrivateFile(path, seal.seal(sealed));
  };

  const { loaded } = await loadDemo({ ...needs, passwordHash, credentials });
  if (!loaded) {
    await store.transaction(async (tx) => {
      // Another process was faster, unless the tenant is older than its credentials.
      if ((await read()) !== undefined) return;
      const userId = await ownerId(tx, needs, passwordHash);
      await credentials(tx, { tenantId, userId });
    }, tenantId);
  }
  const made = await read();
  if (made === undefined) throw new Error(`${path} has gone while it was made`);
  return made;
};

const ownerId = async (tx: Db, needs: Base, passwordHash: string): Promise<string> => {
  const owner = await findUserByEmail(tx, DEMO_OWNER.email);
  if (owner === undefined) {
    const made = { tenantId, ...DEMO_OWNER, roles: ["Administrator"] };
    return insertUser(tx, needs, made, passwordHash);
  }
  await tx
    .updateTable("users")
    .set({ password_hash: passwordHash })
    .where("id", "=", owner.id)
    .execute();
  return owner.id;
};
