import { code as currencyByCode } from "currency-codes";
import { Problem } from "../../contract/errors.ts";
import { type Clock, formatTimestamp } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import { findTimeZone } from "../../kit/time-zone.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { startChain } from "../store/audit/chain.ts";
import type { Db, Store } from "../store/port.ts";
import {
  findTenant,
  listAllTenants,
  NO_SETTINGS,
  type Tenant,
  TENANT_SWITCHES,
  type TenantSettings,
  updateTenant,
} from "../store/queries/tenants.ts";
import type { RecordChange } from "./changes.ts";

export type AdminNeeds = {
  store: Store;
  clock: Clock;
  newId: NewId;
  /** Writes the audit entries of commands; the demo tenant, for example, is set up without any. */
  record?: RecordChange;
};

const toRecord = (tenant: Tenant) => ({
  tenantId: tenant.id,
  name: tenant.name,
  currencyModel: tenant.currency_model,
  currency: tenant.currency,
  connectionId: tenant.connection_id,
  settings: tenant.settings,
});

const TENANT_ID = /^[a-z0-9-]{1,64}$/;

export type NewTenant = {
  tenantId: string;
  name: string;
  currencyModel?: "basic" | "extended";
  currency?: string;
};

/** @throws {Problem} invalid_request */
export const checkTenantId = (tenantId: string): void => {
  if (TENANT_ID.test(tenantId)) return;
  throw new Problem("invalid_request", "A tenant id has 1 to 64 of a-z, 0-9 and -.");
};

const checkTenant = ({ tenantId, name, currency = "USD" }: NewTenant): void => {
  checkTenantId(tenantId);
  if (name.trim() === "") throw new Problem("invalid_request", "A tenant needs a name.");
  if (currencyByCode(currency)?.code !== currency) {
    throw new Problem("invalid_request", `${currency} is no ISO 4217 currency code.`);
  }
};

const createUnfinished = ({ id, phase }: Tenant): Problem =>
  new Problem(
    "conflict",
    phase === "deleting"
      ? `The tenant ${id} is being deleted. If that was interrupted, run admin tenant delete again.`
      : `The tenant ${id} is being imported. If that was interrupted, run admin tenant delete, and import it again.`,
  );

export const createUnknownTenant = (tenantId: string): Problem =>
  new Problem("not_found", `There is no tenant ${tenantId}. "admin tenant list" names them.`);

/** Checks that the tenant exists and is complete; it may be paused. @throws {Problem} not_found, conflict */
export const checkTenantExists = async (db: Db, tenantId: string): Promise<Tenant> => {
  const tenant = await findTenant(db, tenantId);
  if (tenant?.phase === null || tenant?.phase === "paused") return tenant;
  throw tenant === undefined ? createUnknownTenant(tenantId) : createUnfinished(tenant);
};

/** Inserts a tenant within a transaction; refuses an id that is taken. */
export const insertTenant = async (
  tx: Db,
  needs: Omit<AdminNeeds, "store"> & { store: Pick<Store, "auditKey"> },
  made: NewTenant,
) => {
  checkTenant(made);
  if ((await findTenant(tx, made.tenantId)) !== undefined) {
    throw new Problem("conflict", `There is a tenant ${made.tenantId} already.`);
  }
  const row = {
    id: made.tenantId,
    name: made.name,
    currency_model: made.currencyModel ?? "basic",
    currency: made.currency ?? "USD",
    connection_id: needs.newId(),
    settings: JSON.stringify(NO_SETTINGS),
    is_partner: 0 as const,
    test_tenant_id: null,
    created_at: needs.clock(),
    phase: null,
  };
  await insertAll(tx, "tenants", [row]);
  await startChain(tx, needs.store.auditKey, made.tenantId);
  return toRecord({ ...row, settings: NO_SETTINGS });
};

export const createTenant = (needs: AdminNeeds, made: NewTenant) =>
  needs.store.transaction(async (tx) => {
    const record = await insertTenant(tx, needs, made);
    const { tenantId } = record;
    await needs.record?.(tx, { tenantId, action: "admin.tenant_created", resourceId: tenantId });
    return record;
  });

export const showTenant = async ({ store }: Pick<AdminNeeds, "store">, tenantId: string) =>
  toRecord(await checkTenantExists(store.read, tenantId));

const parseTimeZone = (name: string): string => {
  const zone = findTimeZone(name);
  if (zone !== undefined) return zone.name;
  throw new Problem(
    "invalid_request",
    "timeZone takes the IANA name of a time zone, such as Europe/Berlin or UTC.",
  );
};

const MOST_DAYS = 3650;

/** Parses days within which disputes are to be decided; `none` removes them. @throws {Problem} invalid_request */
export const parseDays = (name: string, text: string): number | null => {
  if (text === "none") return null;
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= MOST_DAYS) return days;
  throw new Problem(
    "invalid_request",
    `${name} takes a number of days from 1 to ${MOST_DAYS}, such as 45, or none.`,
  );
};

const parseSetting = (pair: string): Partial<TenantSettings> => {
  const [key = "", value = ""] = pair.split("=", 2);
  if (key === "timeZone") return { timeZone: parseTimeZone(value) };
  if (key === "disputeDays") return { disputeDays: parseDays(key, value) };
  const known = TENANT_SWITCHES.find((name) => name === key);
  if (known === undefined) {
    throw new Problem(
      "invalid_request",
      `${key} is no setting of a tenant; they are ${TENANT_SWITCHES.join(", ")}, timeZone, disputeDays.`,
    );
  }
  if (value !== "true" && value !== "false") {
    throw new Problem("invalid_request", `${key} takes true or false.`);
  }
  return { [known]: value === "true" };
};

/** Sets settings of a tenant from `KEY=true`, `KEY=false`, `timeZone=NAME` and `disputeDays=N`. */
export const setTenant = (
  { store, record }: Pick<AdminNeeds, "store" | "record">,
  tenantId: string,
  pairs: readonly string[],
) =>
  store.transaction(async (tx) => {
    const tenant = await checkTenantExists(tx, tenantId);
    const metadata: Partial<TenantSettings> = Object.assign({}, ...pairs.map(parseSetting));
    const settings = { ...tenant.settings, ...metadata };
    await updateTenant(tx, tenantId, { settings: JSON.stringify(settings) });
    const action = "admin.tenant_changed";
    await record?.(tx, { tenantId, action, resourceId: tenantId, metadata });
    return toRecord({ ...tenant, settings });
  });

export const listTenants = async ({ read }: Pick<Store, "read">) =>
  (await listAllTenants(read)).map((tenant) => ({
    ...toRecord(tenant),
    createdAt: formatTimestamp(tenant.created_at),
    phase: tenant.phase,
  }));
