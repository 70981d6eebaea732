import { Problem } from "../../contract/errors.ts";
import { RecordId } from "../../contract/fields.ts";
import type { Operation } from "../../contract/operation.ts";
import { isScope } from "../../contract/permissions.ts";
import { type CredentialNeeds, hashSecret, hasKeyForm, sessionLives } from "../credentials.ts";
import type { Principal } from "../handlers.ts";
import type { Db } from "../store/port.ts";
import { prepared } from "../store/prepared.ts";
import { activeTenants, findPermissions, findUser, homeTenant } from "../store/users.ts";
import { createRemember, type Recall } from "./remember.ts";

type Identity = Omit<Principal, "may"> & { homeTenantId: string };

const UNAUTHENTICATED = "Send a live session token or API key.";

/** Somebody with a live credential, and what they may do in a tenant; it refuses the tenants closed to them. */
export type Person = Identity & { enter(tenantId: string): Promise<Principal> };

/** Turns the credential of a request into who is asking. */
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
  const remember = createRemember(store);
  const { read } = store;

  const readSession = async (hash: string) => (await sessionByHash(read, hash))[0];
  const readKey = async (hash: string) => (await keyByHash(read, hash))[0];
  const readExportKey = async (hash: string) => (await exportKeyByHash(read, hash))[0];
  const findSession = (recall: Recall, hash: string) =>
    recall(`session ${hash}`, () => readSession(hash));
  const findKey = (recall: Recall, hash: string) => recall(`key ${hash}`, () => readKey(hash));
  const findExportKey = (recall: Recall, hash: string) =>
    recall(`export key ${hash}`, () => readExportKey(hash));
  const findHome = (recall: Recall, userId: string) =>
    recall(`home ${userId}`, async () => {
      const user = await findUser(read, userId);
      const tenantId = user && homeTenant(user, await activeTenants(read, userId));
      // Whoever may enter no tenant at all is no longer a valid user.
      return tenantId ? { user, tenantId } : undefined;
    });

  const identify = async (
    recall: Recall,
    userId: string,
    via: Identity["via"],
    credentialId: string,
  ): Promise<Identity> => {
    const { user, tenantId } = (await findHome(recall, userId)) ?? refuse();
    return { id: user.id, email: user.email, via, credentialId, homeTenantId: tenantId };
  };

  // A use that was written down after the row was read is in the row alone, so whoever seems idle is read again.
  const lastUse = (row: { id: string; used_at: number }): number =>
    Math.max(row.used_at, uses.last(row.id));

  const bySession = async (recall: Recall, token: string, now: number): Promise<Identity> => {
    const hash = hashSecret(token);
    const row = (await findSession(recall, hash)) ?? refuse();
    const lives = (session: typeof row): boolean =>
      sessionLives({ ...session, used_at: lastUse(session) }, now, lifetimes);
    if (!lives(row) && !lives((await readSession(hash)) ?? refuse())) {
      throw new Problem("token_expired", "The session has expired. Log in again.");
    }
    const identity = await identify(recall, row.user_id, "session", row.id);
    uses.note("sessions", row.id, now);
    return identity;
  };

  const byKey = async (recall: Recall, key: string, now: number): Promise<Identity> => {
    const hash = hashSecret(key);
    const known = hasKeyForm(key, "rcvg_") ? await findKey(recall, hash) : undefined;
    const row = known ?? refuse();
    const lives = (one: typeof row): boolean => now - lastUse(one) <= lifetimes.keyInactivity;
    if (!lives(row) && !lives((await readKey(hash)) ?? refuse())) {
      throw new Problem("key_expired", "The API key was not used for too long. Create another.");
    }
    const identity = await identify(recall, row.user_id, "key", row.id);
    uses.note("api_keys", row.id, now);
    return identity;
  };

  const enter = async (
    recall: Recall,
    identity: Identity,
    tenantId: string,
  ): Promise<Principal> => {
    // The path is not checked yet, and what cannot be an id is not to be asked for.
    const may = RecordId.safeParse(tenantId).success
      ? await recall(`may ${tenantId} ${identity.id}`, () =>
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
      const recall = remember();
      const session = token === undefined ? undefined : await bySession(recall, token, now);
      const holder = key === undefined ? undefined : await byKey(recall, key, now);
      const identity = session ?? holder ?? refuse();
      if (holder !== undefined && holder.id !== identity.id) {
        throw new Problem("unauthenticated", "The token and the key belong to different users.");
      }
      return { ...identity, enter: (tenantId) => enter(recall, identity, tenantId) };
    },
    async exportKey(key) {
      const known =
        key !== undefined && hasKeyForm(key, "rcvx_")
          ? await findExportKey(remember(), hashSecret(key))
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

/** Refuses a caller without the operation's permission or scope. */
export const authorize = (operation: Operation, caller: Principal): void => {
  const { access } = operation;
  if (access === "public" || access === "caller" || access === "member") return;
  if (caller.may.has(access)) return;
  throw new Problem("forbidden_permission", `This needs the permission "${access}".`, {
    permission: access,
  });
};
