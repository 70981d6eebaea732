import { type AuditFacts, Problem } from "../../contract/errors.ts";
import { RecordId } from "../../contract/fields.ts";
import type { Operation } from "../../contract/operation.ts";
import { isScope } from "../../contract/permissions.ts";
import { type CredentialNeeds, hashSecret, hasKeyForm, isSessionAlive } from "../credentials.ts";
import type { Principal } from "../handlers.ts";
import type { Db } from "../store/port.ts";
import { findApiKey } from "../store/queries/api-keys.ts";
import { findClient, findClientPermissions } from "../store/queries/clients.ts";
import { findExportKey } from "../store/queries/export-keys.ts";
import { findSession } from "../store/queries/sessions.ts";
import {
  listActiveTenants,
  findPermissions,
  findUser,
  findHomeTenant,
} from "../store/queries/users.ts";
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

/** The platform's credentials, and the reads that the request has cached. */
type Lookup = CredentialNeeds & { cached: CachedRead };

/** The home of a caller: a user's default tenant, or the tenant of a client. */
const findHome = ({ cached, store: { read } }: Lookup, userId: string) =>
  cached(`home ${userId}`, async () => {
    const user = await findUser(read, userId);
    if (user === undefined) {
      const client = await findClient(read, userId);
      return client && { user: { id: client.id, email: "" }, tenantId: client.tenant_id };
    }
    const tenantId = findHomeTenant(user, await listActiveTenants(read, userId));
    // A user without an active tenant cannot use the service.
    return tenantId ? { user, tenantId } : undefined;
  });

const readPermissions = async (db: Db, tenantId: string, callerId: string) =>
  (await findPermissions(db, tenantId, callerId)) ?? findClientPermissions(db, tenantId, callerId);

/** Returns whose credential has expired. Without an active tenant, no log has an entry. */
const describeHolder = async (lookup: Lookup, userId: string): Promise<AuditFacts> => {
  const home = await findHome(lookup, userId);
  return home === undefined ? {} : { tenantId: home.tenantId, actor: userId };
};

const identify = async (
  lookup: Lookup,
  row: { id: string; user_id: string },
  via: Identity["via"],
): Promise<Identity> => {
  const { user, tenantId } = (await findHome(lookup, row.user_id)) ?? refuse();
  return { id: user.id, email: user.email, via, credentialId: row.id, homeTenantId: tenantId };
};

// Another process may have written a later use since the row was cached, so an expired row is read again.
const findLastUse = ({ uses }: Lookup, row: { id: string; used_at: number }): number =>
  Math.max(row.used_at, uses.last(row.id));

const identifySession = async (lookup: Lookup, token: string, now: number): Promise<Identity> => {
  const { cached, lifetimes, store, uses } = lookup;
  const hash = hashSecret(token);
  const row = (await cached(`session ${hash}`, () => findSession(store.read, hash))) ?? refuse();
  const isLive = (session: typeof row): boolean =>
    isSessionAlive({ ...session, used_at: findLastUse(lookup, session) }, now, lifetimes);
  if (!isLive(row) && !isLive((await findSession(store.read, hash)) ?? refuse())) {
    const audit = await describeHolder(lookup, row.user_id);
    throw new Problem("token_expired", "The session has expired. Log in again.", { audit });
  }
  const identity = await identify(lookup, row, "session");
  uses.note("sessions", row.id, now);
  return identity;
};

const identifyKey = async (lookup: Lookup, key: string, now: number): Promise<Identity> => {
  const { cached, lifetimes, store, uses } = lookup;
  if (!hasKeyForm(key, "rcvg_")) return refuse();
  const hash = hashSecret(key);
  const row = (await cached(`key ${hash}`, () => findApiKey(store.read, hash))) ?? refuse();
  const isLive = (one: typeof row): boolean =>
    now - findLastUse(lookup, one) <= lifetimes.keyInactivity;
  if (!isLive(row) && !isLive((await findApiKey(store.read, hash)) ?? refuse())) {
    const audit = await describeHolder(lookup, row.user_id);
    const message = "The API key was not used for too long. Create another.";
    throw new Problem("key_expired", message, { audit });
  }
  const identity = await identify(lookup, row, "key");
  uses.note("api_keys", row.id, now);
  return identity;
};

const enter = async ({ cached, store: { read } }: Lookup, identity: Identity, tenantId: string) => {
  // The path is not validated yet, and the store is asked for valid ids only.
  const may = RecordId.safeParse(tenantId).success
    ? await cached(`may ${tenantId} ${identity.id}`, () =>
        readPermissions(read, tenantId, identity.id),
      )
    : undefined;
  if (may === undefined) {
    throw new Problem("forbidden_tenant", "The credential gives no access to this tenant.");
  }
  return { ...identity, may };
};

const identifyExportKey = async ({ cached, store: { read } }: Lookup, key: string | undefined) => {
  if (key === undefined || !hasKeyForm(key, "rcvx_")) return undefined;
  const hash = hashSecret(key);
  return cached(`export key ${hash}`, () => findExportKey(read, hash));
};

export const createAuthenticate = (needs: CredentialNeeds): Authenticate => {
  const openCache = createReadCache(needs.store);
  return {
    async gateway({ token, key, now }) {
      const lookup = { ...needs, cached: openCache() };
      const session = token === undefined ? undefined : await identifySession(lookup, token, now);
      const holder = key === undefined ? undefined : await identifyKey(lookup, key, now);
      const identity = session ?? holder ?? refuse();
      if (holder !== undefined && holder.id !== identity.id) {
        const audit = { tenantId: identity.homeTenantId, actor: identity.id };
        const message = "The token and the key belong to different users.";
        throw new Problem("unauthenticated", message, { audit });
      }
      return { ...identity, enter: (tenantId) => enter(lookup, identity, tenantId) };
    },
    async exportKey(key) {
      const row = await identifyExportKey({ ...needs, cached: openCache() }, key);
      if (row === undefined) throw new Problem("unauthenticated", "Send a valid X-API-Key.");
      return {
        id: row.id,
        email: "",
        via: "export-key",
        credentialId: row.id,
        may: new Set(row.scopes.split(",").filter(isScope)),
        tenantId: row.tenant_id,
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
