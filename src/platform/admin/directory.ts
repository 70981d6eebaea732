/**
 * People and clients of the store for an MCP server that shares it: it has verified who they are in another way than by
 * a password, and opens a session or an API key for them.
 */
import { randomToken } from "../../kit/ids.ts";
import { hashSecret, insertApiKey } from "../credentials.ts";
import { appendEntries } from "../store/audit/chain.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import type { Db } from "../store/port.ts";
import { findClient } from "../store/queries/clients.ts";
import { findTenant } from "../store/queries/tenants.ts";
import {
  findHomeTenant,
  findUserByEmail,
  listActiveTenants,
  recordExternalLogin,
} from "../store/queries/users.ts";
import type { ClientRow } from "../store/tables/schema.ts";
import type { AdminNeeds } from "./tenants.ts";

type Needs = Omit<AdminNeeds, "record">;

/** The method that verified a person's identity: the company's OpenID provider, an identity assertion (RFC 7523), or a token of an issuer. */
export type SignInMethod = "OPENID" | "ID_JAG" | "ACCESS_TOKEN";

/** An entry of the sign-in, which no operation of the API makes. */
const record = (
  tx: Db,
  { store, clock, newId }: Needs,
  entry: { tenantId: string; action: string; actor: string; metadata?: Record<string, string> },
): Promise<void> =>
  appendEntries(tx, store.auditKey, [
    {
      tenantId: entry.tenantId,
      id: newId(),
      at: clock(),
      method: "POST",
      endpoint: "sign_in",
      action: entry.action,
      statusCode: 200,
      metadata: { ...entry.metadata, resourceId: entry.actor, actor: entry.actor },
    },
  ]);

const ASCII = /^[\x20-\x7e]*$/;

/**
 * Whether two addresses with the same folded form belong to one person. Folding turns some other letters, such as the
 * Kelvin sign, into ASCII letters; a provider may have verified such an address for another person.
 */
const isSameAddress = (one: string, other: string): boolean =>
  ASCII.test(one) === ASCII.test(other);

/** Finds an active user by e-mail address, with the tenants that they can access; undefined where there is none. */
const findActivePerson = async (db: Db, email: string) => {
  const found = await findUserByEmail(db, email);
  const user = found !== undefined && isSameAddress(found.email, email) ? found : undefined;
  const tenants = user === undefined ? [] : await listActiveTenants(db, user.id);
  const homeId = user === undefined ? null : findHomeTenant(user, tenants);
  if (user === undefined || homeId === null) return undefined;
  const rank = ({ id }: { id: string }): number => (id === homeId ? 0 : 1);
  const sorted = tenants.toSorted((a, b) => rank(a) - rank(b));
  return { user, homeId, tenants: sorted.map(({ id, name }) => ({ id, name })) };
};

/**
 * Opens a session of an active user whose e-mail address was verified, and returns it with the user's active tenants, the
 * default one first; undefined where there is none.
 */
const openSession = async (
  tx: Db,
  needs: Needs,
  email: string,
  { method, issuer }: { method: SignInMethod; issuer: string },
) => {
  const found = await findActivePerson(tx, email);
  if (found === undefined) return undefined;
  const { user, homeId: tenantId, tenants } = found;
  const token = randomToken();
  const now = needs.clock();
  await insertAll(tx, "sessions", [
    {
      id: needs.newId(),
      token_hash: hashSecret(token),
      user_id: user.id,
      created_at: now,
      verified_at: now,
      used_at: now,
    },
  ]);
  await recordExternalLogin(tx, user.id, { at: now, method });
  const metadata = { method, issuer };
  const entry = { tenantId, action: "auth.person_signed_in", actor: user.id, metadata };
  await record(tx, needs, entry);
  return { token, userId: user.id, email: user.email, tenants };
};

/** Finds a client by id; undefined also where its tenant is being imported or deleted. */
const readClient = async (db: Db, id: string) => {
  const row = await findClient(db, id);
  const tenant = row && (await findTenant(db, row.tenant_id));
  if (row === undefined || tenant === undefined || tenant.phase !== null) return undefined;
  const { name, version } = row;
  const keys = { jwks: row.jwks ?? undefined, secretHash: row.secret_hash ?? undefined };
  return { id, name, tenant: { id: tenant.id, name: tenant.name }, ...keys, version };
};

/** A client, and the version of its credential, which changes with each new one. */
type Credential = Pick<ClientRow, "id" | "version">;

/** Creates an API key of a client; undefined if its credential was replaced since this version. */
const createClientKey = async (
  tx: Db,
  needs: Needs,
  { id, version }: Credential,
): Promise<{ keyId: string; apiKey: string } | undefined> => {
  const row = await findClient(tx, id);
  if (row?.version !== version) return undefined;
  const { tenant_id: tenantId } = row;
  const key = await insertApiKey(tx, needs, { tenantId, userId: id });
  const metadata = { keyId: key.keyId };
  await record(tx, needs, { tenantId, action: "auth.client_signed_in", actor: id, metadata });
  return key;
};

/** Opens the directory of a store. */
export const createDirectory = (needs: Needs) => {
  const { store } = needs;
  return {
    /** Finds an active user by e-mail address, with their tenants, the default one first. */
    async findPerson(email: string) {
      const found = await findActivePerson(store.read, email);
      return found && { userId: found.user.id, email: found.user.email, tenants: found.tenants };
    },
    openSession: (email: string, verified: { method: SignInMethod; issuer: string }) =>
      store.transaction((tx) => openSession(tx, needs, email, verified)),
    findClient: (id: string) => readClient(store.read, id),
    createClientKey: (client: Credential) =>
      store.transaction((tx) => createClientKey(tx, needs, client)),
  };
};
