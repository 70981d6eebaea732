import { Problem } from "../../contract/errors.ts";
import { isScope, SCOPES } from "../../contract/permissions.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import type { Secret } from "../../kit/secret.ts";
import { hashSecret, makeKey, PREFIX_CHARACTERS } from "../credentials.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import type { Db } from "../store/port.ts";
import { findExportKey, listExportKeys, removeExportKey } from "../store/queries/export-keys.ts";
import { findTenant } from "../store/queries/tenants.ts";
import { listRoles } from "./roles.ts";
import { type AdminNeeds, checkTenantExists } from "./tenants.ts";

type NewKey = { tenantId: string; name: string; scopes?: readonly string[] | undefined };

const checkScopes = (scopes: readonly string[]): void => {
  const wrong = scopes.filter((scope) => !isScope(scope));
  if (scopes.length > 0 && wrong.length === 0) return;
  throw new Problem(
    "invalid_request",
    `${wrong.join(", ") || "An empty list"}: no such scope. They are ${SCOPES.join(", ")}.`,
  );
};

/** Creates an export and ingest key within a transaction. Its text is returned only here. */
export const insertExportKey = async (
  tx: Db,
  { newId, clock }: Omit<AdminNeeds, "store">,
  { tenantId, name, scopes = SCOPES }: NewKey,
) => {
  checkScopes(scopes);
  await checkTenantExists(tx, tenantId);
  const apiKey = makeKey("rcvx_");
  const keyId = newId();
  const now = clock();
  await insertAll(tx, "export_keys", [
    {
      id: keyId,
      hash: hashSecret(apiKey),
      prefix: apiKey.slice(0, PREFIX_CHARACTERS),
      tenant_id: tenantId,
      name,
      scopes: scopes.join(","),
      created_at: now,
    },
  ]);
  return { keyId, apiKey, tenantId, name, scopes: [...scopes], createdAt: formatTimestamp(now) };
};

export const issueKey = (needs: AdminNeeds, made: NewKey) =>
  needs.store.transaction(async (tx) => {
    const key = await insertExportKey(tx, needs, made);
    const { tenantId, keyId: resourceId } = key;
    const metadata = { scopes: key.scopes.join(",") };
    await needs.record?.(tx, { tenantId, action: "admin.key_issued", resourceId, metadata });
    return key;
  });

export const revokeKey = (
  { store, record }: Pick<AdminNeeds, "store" | "record">,
  keyId: string,
): Promise<{ keyId: string; revoked: true }> =>
  store.transaction(async (tx) => {
    const tenantId = await removeExportKey(tx, keyId);
    if (tenantId === undefined) throw new Problem("not_found", `There is no key ${keyId}.`);
    const change = { tenantId, resourceId: keyId };
    await record?.(tx, { ...change, action: "admin.key_revoked" });
    return { keyId, revoked: true };
  });

/** Lists export and ingest keys, of one tenant or all, without their text. */
export const listKeys = async (db: Db, tenantId: string | undefined) => {
  if (tenantId !== undefined) await checkTenantExists(db, tenantId);
  return (await listExportKeys(db, tenantId)).map((row) => ({
    keyId: row.id,
    prefix: row.prefix,
    tenantId: row.tenant_id,
    name: row.name,
    scopes: row.scopes.split(","),
    createdAt: formatTimestamp(row.created_at),
  }));
};

/** Returns what is wrong with a key and the roles that may use it, without the key. */
export const listKeyFaults = async (
  db: Db,
  { tenantId, apiKey, roles }: { tenantId: string; apiKey: Secret; roles: readonly string[] },
): Promise<string[]> => {
  if ((await findTenant(db, tenantId)) === undefined) return [`there is no tenant ${tenantId}`];
  const names = (await listRoles(db, tenantId)).map(({ name }) => name);
  const key = await findExportKey(db, hashSecret(apiKey.reveal()));
  return [
    ...(key?.tenant_id === tenantId ? [] : [`the key of ${tenantId} is not a key of that tenant`]),
    ...roles
      .filter((role) => !names.includes(role))
      .map((role) => `${tenantId} has no role ${role}; its roles are ${names.join(", ")}`),
  ];
};
