import { Problem } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import { isScope } from "../../contract/permissions.ts";
import { type CredentialNeeds, hashSecret, hasKeyForm, sessionLives } from "../credentials.ts";
import type { Principal } from "../handlers.ts";
import { activeTenants, findPermissions, findUser, homeTenant } from "../store/users.ts";
import { createRemember } from "./remember.ts";

type Identity = Omit<Principal, "may"> & { homeTenantId: string };

const UNAUTHENTICATED = "Send a live session token or API key.";

/** Turns the credential of a request into who is asking. */
export type Authenticate = {
  gateway(credentials: {
    token: string | undefined;
    key: string | undefined;
    now: number;
  }): Promise<Identity>;
  exportKey(key: string | undefined): Promise<Principal & { tenantId: string }>;
  /** What the person may do in a tenant; refuses the tenants that are closed to them. */
  enter(identity: Identity, tenantId: string): Promise<Principal>;
};

export const createAuthenticate = ({ store, uses, lifetimes }: CredentialNeeds): Authenticate => {
  const remember = createRemember(store);
  const { read } = store;

  const findSession = (hash: string) =>
    remember(`session ${hash}`, () =>
      read.selectFrom("sessions").selectAll().where("token_hash", "=", hash).executeTakeFirst(),
    );
  const findKey = (hash: string) =>
    remember(`key ${hash}`, () =>
      read.selectFrom("api_keys").selectAll().where("hash", "=", hash).executeTakeFirst(),
    );
  const findExportKey = (hash: string) =>
    remember(`export key ${hash}`, () =>
      read.selectFrom("export_keys").selectAll().where("hash", "=", hash).executeTakeFirst(),
    );
  const findHome = (userId: string) =>
    remember(`home ${userId}`, async () => {
      const user = await findUser(read, userId);
      const tenantId = user && homeTenant(user, await activeTenants(read, userId));
      // Whoever may enter no tenant at all is no longer a valid user.
      return tenantId ? { user, tenantId } : undefined;
    });

  const identify = async (
    userId: string,
    via: Identity["via"],
    credentialId: string,
  ): Promise<Identity> => {
    const home = await findHome(userId);
    if (home === undefined) throw new Problem("unauthenticated", UNAUTHENTICATED);
    const { user, tenantId } = home;
    return { id: user.id, email: user.email, via, credentialId, homeTenantId: tenantId };
  };

  const bySession = async (token: string, now: number): Promise<Identity> => {
    const row = await findSession(hashSecret(token));
    if (row === undefined) throw new Problem("unauthenticated", UNAUTHENTICATED);
    const used_at = Math.max(row.used_at, uses.last(row.id));
    if (!sessionLives({ ...row, used_at }, now, lifetimes)) {
      throw new Problem("token_expired", "The session has expired. Log in again.");
    }
    const identity = await identify(row.user_id, "session", row.id);
    uses.note("sessions", row.id, now);
    return identity;
  };

  const byKey = async (key: string, now: number): Promise<Identity> => {
    const row = hasKeyForm(key, "rcvg_") ? await findKey(hashSecret(key)) : undefined;
    if (row === undefined) throw new Problem("unauthenticated", UNAUTHENTICATED);
    if (now - Math.max(row.used_at, uses.last(row.id)) > lifetimes.keyInactivity) {
      throw new Problem("key_expired", "The API key was not used for too long. Create another.");
    }
    const identity = await identify(row.user_id, "key", row.id);
    uses.note("api_keys", row.id, now);
    return identity;
  };

  return {
    async gateway({ token, key, now }) {
      const session = token === undefined ? undefined : await bySession(token, now);
      const holder = key === undefined ? undefined : await byKey(key, now);
      const identity = session ?? holder;
      if (identity === undefined) throw new Problem("unauthenticated", UNAUTHENTICATED);
      if (holder !== undefined && holder.id !== identity.id) {
        throw new Problem("unauthenticated", "The token and the key belong to different users.");
      }
      return identity;
    },
    async exportKey(key) {
      const row =
        key !== undefined && hasKeyForm(key, "rcvx_")
          ? await findExportKey(hashSecret(key))
          : undefined;
      if (row === undefined) throw new Problem("unauthenticated", "Send a valid X-API-Key.");
      const scopes = row.scopes.split(",").filter(isScope);
      return {
        id: row.id,
        email: "",
        via: "export-key",
        credentialId: row.id,
        may: new Set(scopes),
        tenantId: row.tenant_id,
      };
    },
    async enter(identity, tenantId) {
      const may = await remember(`may ${tenantId} ${identity.id}`, () =>
        findPermissions(read, tenantId, identity.id),
      );
      if (may === undefined) {
        throw new Problem("forbidden_tenant", "The credential gives no access to this tenant.");
      }
      return { ...identity, may };
    },
  };
};

/** Refuses a caller without the operation's permission or scope. */
export const authorize = (operation: Operation, caller: Principal): void => {
  const { access } = operation;
  if (access === "public" || access === "caller" || access === "member") return;
  if (caller.may.has(access)) return;
  throw new Problem("forbidden_permission", `This needs the permission "${access}".`, {
    permission: access,
  });
};
