import { cpSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { insertApiKey } from "../../src/platform/credentials.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { insertUser } from "../../src/platform/admin/users.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { hashPassword } from "../../src/platform/passwords.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { emailOf, PASSWORD } from "./kinds/logins.ts";
import { createRandomBytes, createRandomId } from "./randomness.ts";
import { type Machine, runOn } from "./machine.ts";
import { BEGINNING, MASTER_KEY, type TenantId, TENANTS } from "./settings.ts";

/** The keys and ids for requests of a tenant. */
export type Account = {
  tenantId: TenantId;
  connectionId: string;
  gatewayKey: string;
  exportKey: string;
};

export type Template = { folder: string; accounts: Record<TenantId, Account> };

const DAY_BEFORE = BEGINNING - 86_400_000;

const configure = async (
  store: Store,
  newId: () => string,
  tenantId: TenantId,
): Promise<Account> => {
  const clock = (): number => DAY_BEFORE;
  const needs = { store, clock, newId };
  const { connectionId } = await createTenant(needs, {
    tenantId,
    name: `Tenant ${tenantId}`,
    currencyModel: "extended",
    currency: "EUR",
  });
  const email = emailOf(tenantId);
  const person = { tenantId, email, firstName: "Pat", lastName: tenantId };
  const { apiKey: gatewayKey } = await store.transaction(async (tx) => {
    const hash = await hashPassword(PASSWORD);
    const userId = await insertUser(tx, needs, { ...person, roles: ["Administrator"] }, hash);
    return insertApiKey(tx, needs, { tenantId, userId });
  });
  const { apiKey: exportKey } = await issueKey(needs, { tenantId, name: "all" });
  return { tenantId, connectionId, gatewayKey, exportKey };
};

/** Creates the folder that every run begins with: two tenants, each with a person and a key. */
export const createTemplate = async (parent: string): Promise<Template> => {
  const folder = mkdtempSync(join(parent, "receivables-simulation-"));
  const source = xoroshiro128plus(0);
  const randomBytes = createRandomBytes(source);
  const newId = createRandomId(randomBytes);
  const path = join(folder, "receivables.db");
  const accounts: Partial<Template["accounts"]> = {};
  await runOn({ randomBytes } as Machine, async () => {
    const clock = (): number => DAY_BEFORE;
    const store = await openSqlite(path, { masterKey: async () => MASTER_KEY, clock, newId });
    // One after the other, so that ids are the same each time.
    for (const tenantId of TENANTS) accounts[tenantId] = await configure(store, newId, tenantId);
    await store.close();
  });
  return { folder, accounts: accounts as Template["accounts"] };
};

export const copyTemplate = ({ folder }: Template, target: string): void =>
  cpSync(folder, target, { recursive: true });
