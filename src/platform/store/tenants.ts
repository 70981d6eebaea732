import type { Db } from "./port.ts";
import type { TenantRow } from "./tables.ts";

/** The switches of a tenant. */
export const TENANT_SETTINGS = [
  "requireResolutionOnClose",
  "requireKnownDocument",
  "requireKnownAccount",
] as const;
export type TenantSettings = Record<(typeof TENANT_SETTINGS)[number], boolean>;

export const NO_SETTINGS: TenantSettings = {
  requireResolutionOnClose: false,
  requireKnownDocument: false,
  requireKnownAccount: false,
};

export type Tenant = Omit<TenantRow, "settings"> & { settings: TenantSettings };

const toTenant = (row: TenantRow): Tenant => ({
  ...row,
  settings: { ...NO_SETTINGS, ...(JSON.parse(row.settings) as Partial<TenantSettings>) },
});

export const findTenant = async (db: Db, id: string): Promise<Tenant | undefined> => {
  const row = await db.selectFrom("tenants").selectAll().where("id", "=", id).executeTakeFirst();
  return row && toTenant(row);
};

/** A tenant that is known to exist. */
export const readTenant = async (db: Db, id: string): Promise<Tenant> => {
  const row = await db
    .selectFrom("tenants")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return toTenant(row);
};
