import { UTC } from "../../../kit/time-zone.ts";
import type { Db } from "../port.ts";
import { prepareFind } from "../engine/prepared.ts";
import type { TenantRow } from "../tables/schema.ts";
import { changeRows, removeRows } from "../engine/rows.ts";

/** The switches of a tenant. */
export const TENANT_SWITCHES = [
  "requireResolutionOnClose",
  "requireKnownDocument",
  "requireKnownAccount",
] as const;
export type TenantSettings = Record<(typeof TENANT_SWITCHES)[number], boolean> & {
  /** The IANA name of the zone whose days summaries count. */
  timeZone: string;
  /** Days within which disputes are to be decided; null: no deadline. */
  disputeDays: number | null;
};

export const NO_SETTINGS: TenantSettings = {
  requireResolutionOnClose: false,
  requireKnownDocument: false,
  requireKnownAccount: false,
  timeZone: UTC.name,
  disputeDays: null,
};

export type Tenant = Omit<TenantRow, "settings"> & { settings: TenantSettings };

export const toTenant = (row: TenantRow): Tenant => ({
  ...row,
  settings: { ...NO_SETTINGS, ...(JSON.parse(row.settings) as Partial<TenantSettings>) },
});

/** Selects a tenant's own row as it is stored. */
export const selectTenant = (db: Db, id: string) =>
  db.selectFrom("tenants").selectAll().where("id", "=", id);

const tenantById = prepareFind(selectTenant);

export const findTenant = async (db: Db, id: string): Promise<Tenant | undefined> => {
  const row = await tenantById(db, id);
  return row && toTenant(row);
};

export const listAllTenants = async (db: Db): Promise<Tenant[]> =>
  (await db.selectFrom("tenants").selectAll().orderBy("id").execute()).map(toTenant);

const anyTenant = prepareFind((db: Db) => db.selectFrom("tenants").select("id").limit(1));

/** Whether the store has any tenant. */
export const hasTenant = async (db: Db): Promise<boolean> => (await anyTenant(db)) !== undefined;

/** Finds the id of the tenant with this connection, also of one that is being imported. */
export const findTenantOfConnection = async (
  db: Db,
  connectionId: string,
): Promise<string | undefined> => {
  const query = db.selectFrom("tenants").select("id").where("connection_id", "=", connectionId);
  return (await query.executeTakeFirst())?.id;
};

/** Finds a tenant that must exist. */
export const readTenant = async (db: Db, id: string): Promise<Tenant> => {
  const tenant = await findTenant(db, id);
  if (tenant === undefined) throw new Error(`there is no tenant ${id}`);
  return tenant;
};

export const updateTenant = (
  tx: Db,
  id: string,
  change: Partial<Pick<TenantRow, "settings" | "phase">>,
) => changeRows(tx, "tenants", { id }, change);

/** Removes a tenant's own row; returns whether there was one. */
export const removeTenant = async (tx: Db, id: string): Promise<boolean> =>
  (await removeRows(tx, "tenants", { id })) > 0;
