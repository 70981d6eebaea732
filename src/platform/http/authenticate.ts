import { Problem } from "../../contract/errors.ts";
import { RecordId } from "../../contract/fields.ts";
import type { Operation } from "../../contract/operation.ts";
import { isScope } from "../../contract/permissions.ts";
import { type CredentialNeeds, hashSecret, hasKeyForm, sessionLives } from "../credentials.ts";
import type { Principal } from "../handlers.ts";
import type { Db } from "../store/port.ts";
import { prepared } from "../store/prepared.ts";
import { activeTenants, findPermissions, findUser, homeTenant } from "../store/users.ts";
import { type CachedRead, createReadCache } from "./read-cache.ts";

type Identity = Omit<Principal, "may"> & { homeTenantId: string };

const UNAUTHENTICATED = "Send a live session token or API key.";

/** An authenticated user. `enter` reads the user's permissions in a tenant. @throws {Problem} forbidden_tenant */
export type Person = Identity & { enter(tenantId: string): Promise<Principal> };

/** Finds the user or export key that a request's credentials belong to. @throws {Problem} unauthenticated */
export type Authenticate = {
  gateway(credentials: {
    token: string | undefined;
    key: string | undefined;
    now: number;
  }): Promise<Person>;
  exportKey(key: string | undefined): Promise<Principal & { tenantId: string }>;
};

const refuse = (): never => {
  throw new Problem("unauthenticated", UNAUTHENTICATED);
};

const sessionByHash = prepared((db: Db, hash: string) =>
  db.selectFrom("sessions").selectAll().where("token_hash", "=", hash),
);

const keyByHash = prepared((db: Db, hash: string) =>
  db.selectFrom("api_keys").selectAll().where("hash", "=", hash),
);

const exportKeyByHash = prepared((db: Db, hash: string) =>
  db.selectFrom("export_keys").selectAll().where("hash", "=", hash),
);

export const createAuthenticate = ({ store, uses, lifetimes }: CredentialNeeds): Authenticate => {
  const openCache = createReadCache(store);
  const { read } = store;

  const readSession = async (hash: string) => (await sessionByHash(read, hash))[0];
  const readKey = async (hash: string) => (await keyByHash(read, hash))[0];
  const readExportKey = async (hash: string) => (await exportKeyByHash(read, hash))[0];
  const findSession = (cached: CachedRead, hash: string) =>
    cached(`session ${hash}`, () => readSession(hash));
  const findKey = (cached: CachedRead, hash: string) => cached(`key ${hash}`, () => readKey(hash));
  const findExportKey = (cached: CachedRead, hash: string) =>
    cached(`export key ${hash}`, () => readExportKey(hash));
  const findHome = (cached: CachedRead, userId: string) =>
    cached(`home ${userId}`, async () => {
      const user = await findUser(read, userId);
      const tenantId = user && homeTenant(user, await activeTenants(read, userId));
      // A user without an active tenant cannot use the service.
      return tenantId ? { user, tenantId } : undefined;
    });

  const identify = async (
    cached: CachedRead,
    userId: string,
    via: Identity["via"],
    credentialId: string,
  ): Promise<Identity> => {
    const { user, tenantId } = (await findHome(cached, userId)) ?? refuse();
    return { id: user.id, email: user.email, via, credentialId, homeTenantId: tenantId };
  };

  // Another process may have written a later use since the row was cached, so an expired row is read again.
  const lastUse = (row: { id: string; used_at: number }): number =>
    Math.max(row.used_at, uses.last(row.id));

  const bySession = async (cached: CachedRead, token: string, now: number): Promise<Identity> => {
    const hash = hashSecret(token);
    const row = (await findSession(cached, hash)) ?? refuse();
    const isLive = (session: typeof row): boolean =>
      sessionLives({ ...session, used_at: lastUse(session) }, now, lifetimes);
    if (!isLive(row) && !isLive((await readSession(hash)) ?? refuse())) {
      throw new Problem("token_expired", "The session has expired. Log in again.");
    }
    const identity = await identify(cached, row.user_id, "session", row.id);
    uses.note("sessions", row.id, now);
    return identity;
  };

  const byKey = async (cached: CachedRead, key: string, now: number): Promise<Identity> => {
    const hash = hashSecret(key);
    const known = hasKeyForm(key, "rcvg_") ? await findKey(cached, hash) : undefined;
    const row = known ?? refuse();
    const isLive = (one: typeof row): boolean => now - lastUse(one) <= lifetimes.keyInactivity;
    if (!isLive(row) && !isLive((await readKey(hash)) ?? refuse())) {
      throw new Problem("key_expired", "The API key was not used for too long. Create another.");
    }
    const identity = await identify(cached, row.user_id, "key", row.id);
    uses.note("api_keys", row.id, now);
    return identity;
  };

  const enter = async (
    cached: CachedRead,
    identity: Identity,
    tenantId: string,
  ): Promise<Principal> => {
    // The path is not validated yet, and the store is asked for valid ids only.
    const may = RecordId.safeParse(tenantId).success
      ? await cached(`may ${tenantId} ${identity.id}`, () =>
          findPermissions(read, tenantId, identity.id),
        )
      : undefined;
    if (may === undefined) {
      throw new Problem("forbidden_tenant", "The credential gives no access to this tenant.");
    }
    return { ...identity, may };
  };

  return {
    async gateway({ token, key, now }) {
      const cached = openCache();
      const session = token === undefined ? undefined : await bySession(cached, token, now);
      const holder = key === undefined ? undefined : await byKey(cached, key, now);
      const identity = session ?? holder ?? refuse();
      if (holder !== undefined && holder.id !== identity.id) {
        throw new Problem("unauthenticated", "The token and the key belong to different users.");
      }
      return { ...identity, enter: (tenantId) => enter(cached, identity, tenantId) };
    },
    async exportKey(key) {
      const known =
        key !== undefined && hasKeyForm(key, "rcvx_")
          ? await findExportKey(openCache(), hashSecret(key))
          : undefined;
      if (known === undefined) throw new Problem("unauthenticated", "Send a valid X-API-Key.");
      return {
        id: known.id,
        email: "",
        via: "export-key",
        credentialId: known.id,
        may: new Set(known.scopes.split(",").filter(isScope)),
        tenantId: known.tenant_id,
      };
    },
  };
};

/** Checks the operation's permission or scope. @throws {Problem} forbidden_permission */
export const authorize = (operation: Operation, caller: Principal): void => {
  const { access } = operation;
  if (access === "public" || access === "caller" || access === "member") return;
  if (caller.may.has(access)) return;
  throw new Problem("forbidden_permission", `This needs the permission "${access}".`, {
    permission: access,
  });
};
