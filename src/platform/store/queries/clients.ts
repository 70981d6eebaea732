import { BUILT_IN_ROLES, type Permission } from "../../../contract/permissions.ts";
import { prepareFind, prepareQuery } from "../engine/prepared.ts";
import type { Db } from "../port.ts";
import type { ClientRow } from "../tables/schema.ts";
import { type MemberRole, toPermissions } from "./users.ts";
import { removeRows } from "../engine/rows.ts";

export const findClient = prepareFind((db: Db, id: string) =>
  db.selectFrom("clients").selectAll().where("id", "=", id),
);

const rolesOfClient = prepareQuery((db: Db, tenantId: string, id: string) =>
  db
    .selectFrom("clients")
    .leftJoin("roles", (join) =>
      join
        .onRef("roles.tenant_id", "=", "clients.tenant_id")
        .onRef("roles.id", "=", "clients.role_id"),
    )
    .select(["clients.role_id", "roles.name", "roles.grants"])
    .where("clients.id", "=", id)
    .where("clients.tenant_id", "=", tenantId),
);

/** Finds the permissions of a client in its tenant; undefined for any other tenant or id. */
export const findClientPermissions = async (
  db: Db,
  tenantId: string,
  id: string,
): Promise<ReadonlySet<Permission> | undefined> => {
  const rows = await rolesOfClient(db, tenantId, id);
  return rows.length === 0 ? undefined : toPermissions(rows);
};

/** Returns the role of a client, in the shape of those of a user. */
export const readClientRole = async (
  db: Db,
  { id, tenant_id, role_id: roleId }: ClientRow,
): Promise<MemberRole> => {
  const [role] = await rolesOfClient(db, tenant_id, id);
  const builtIn = BUILT_IN_ROLES.find((one) => one.roleId === roleId);
  const custom = role?.name ?? undefined;
  const name = custom ?? builtIn?.name ?? roleId;
  return { userId: id, roleId, name, custom: custom !== undefined };
};

/** Lists the clients of one tenant or of all, by tenant and age. */
export const listClients = (db: Db, tenantId: string | undefined) =>
  db
    .selectFrom("clients")
    .selectAll()
    .$if(tenantId !== undefined, (query) => query.where("tenant_id", "=", tenantId ?? ""))
    .orderBy("tenant_id")
    .orderBy("created_at")
    .orderBy("id")
    .execute();

/** Replaces a client's credential and counts its version up. */
export const replaceCredential = (
  tx: Db,
  id: string,
  change: Pick<ClientRow, "jwks" | "secret_hash" | "updated_at">,
) =>
  tx
    .updateTable("clients")
    .set((eb) => ({ ...change, version: eb("version", "+", 1) }))
    .where("id", "=", id)
    .execute();

/** Removes the API keys with which servers call for a client. */
export const removeClientKeys = (tx: Db, id: string) => removeRows(tx, "api_keys", { user_id: id });

export const removeClient = async (tx: Db, id: string): Promise<void> => {
  await removeClientKeys(tx, id);
  await removeRows(tx, "clients", { id });
};
