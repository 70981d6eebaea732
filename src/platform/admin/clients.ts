import { Problem } from "../../contract/errors.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import { randomToken } from "../../kit/ids.ts";
import { hashSecret } from "../credentials.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import type { Db } from "../store/port.ts";
import {
  findClient,
  listClients as listClientRows,
  readClientRole,
  removeClient,
  removeClientKeys,
  replaceCredential,
} from "../store/queries/clients.ts";
import type { ClientRow } from "../store/tables/schema.ts";
import { parseJwks, parsePublicKey } from "./public-keys.ts";
import { findRoleIds } from "./roles.ts";
import { type AdminNeeds, checkTenantExists } from "./tenants.ts";

/** The credential of a client: public keys, or a secret that is created and returned once. */
export type NewCredential = { publicKey: string } | { jwks: string } | "secret";

type Stored = Pick<ClientRow, "jwks" | "secret_hash">;

const MAX_NAME = 80;
const NAME = /^\P{C}+$/u;

/** Returns the columns of a credential, and the text of a new secret. @throws {Problem} invalid_request */
const createCredential = (credential: NewCredential): { stored: Stored; secret?: string } => {
  if (credential === "secret") {
    const secret = randomToken();
    return { stored: { jwks: null, secret_hash: hashSecret(secret) }, secret };
  }
  const keys =
    "jwks" in credential ? parseJwks(credential.jwks) : parsePublicKey(credential.publicKey);
  return { stored: { jwks: JSON.stringify({ keys }), secret_hash: null } };
};

const toRecord = ({ id, name, tenant_id, ...row }: ClientRow, role: string) => ({
  clientId: id,
  name,
  tenantId: tenant_id,
  role,
  authentication: row.jwks === null ? "client_secret_basic" : "private_key_jwt",
  createdAt: formatTimestamp(row.created_at),
  changedAt: formatTimestamp(row.updated_at),
});

export type ClientRecord = ReturnType<typeof toRecord> & {
  /** Only in the answer to the command that created it. */
  clientSecret?: string;
};

const readRoleName = async (db: Db, client: ClientRow): Promise<string> =>
  (await readClientRole(db, client)).name;

const readName = (text: string): string => {
  const name = text.trim();
  if (name !== "" && name.length <= MAX_NAME && NAME.test(name)) return name;
  throw new Problem(
    "invalid_request",
    `The name of a client is one line of at most ${MAX_NAME} characters.`,
  );
};

/** Creates a client with the rights of one role. A secret is returned only here. */
export const createClient = async (
  { store, clock, newId, record }: AdminNeeds,
  made: { tenantId: string; name: string; role: string; credential: NewCredential },
): Promise<ClientRecord> => {
  const { tenantId } = made;
  const name = readName(made.name);
  const { stored, secret } = createCredential(made.credential);
  return store.transaction(async (tx) => {
    await checkTenantExists(tx, tenantId);
    const [roleId = ""] = await findRoleIds(tx, tenantId, [made.role]);
    const now = clock();
    const owner = { id: newId(), tenant_id: tenantId, name, role_id: roleId };
    const row = { ...owner, ...stored, version: 1, created_at: now, updated_at: now };
    await insertAll(tx, "clients", [row]);
    const client = toRecord(row, await readRoleName(tx, row));
    const metadata = { client: name, role: client.role, authentication: client.authentication };
    await record?.(tx, { tenantId, action: "admin.client_created", resourceId: row.id, metadata });
    return { ...client, ...(secret === undefined ? {} : { clientSecret: secret }) };
  });
};

/** Lists the clients of one tenant or of all, without their credentials. */
export const listClients = async (db: Db, tenantId: string | undefined) => {
  if (tenantId !== undefined) await checkTenantExists(db, tenantId);
  const clients: ClientRecord[] = [];
  for (const row of await listClientRows(db, tenantId)) {
    clients.push(toRecord(row, await readRoleName(db, row)));
  }
  return clients;
};

const readClient = async (db: Db, clientId: string): Promise<ClientRow> => {
  const row = await findClient(db, clientId);
  if (row !== undefined) return row;
  throw new Problem("not_found", `There is no client ${clientId}. List clients with client list.`);
};

/** Replaces a client's credential, and ends the tokens that it got with the former one. */
export const rotateClient = async (
  { store, clock, record }: AdminNeeds,
  { clientId, credential }: { clientId: string; credential: NewCredential },
): Promise<ClientRecord> => {
  const { stored, secret } = createCredential(credential);
  return store.transaction(async (tx) => {
    const { tenant_id: tenantId } = await readClient(tx, clientId);
    await replaceCredential(tx, clientId, { ...stored, updated_at: clock() });
    await removeClientKeys(tx, clientId);
    const row = await readClient(tx, clientId);
    const client = toRecord(row, await readRoleName(tx, row));
    const metadata = { client: client.name, authentication: client.authentication };
    const action = "admin.client_rotated";
    await record?.(tx, { tenantId, action, resourceId: clientId, metadata });
    return { ...client, ...(secret === undefined ? {} : { clientSecret: secret }) };
  });
};

/** Deletes a client, and ends its tokens. */
export const deleteClient = (
  { store, record }: Pick<AdminNeeds, "store" | "record">,
  clientId: string,
): Promise<{ clientId: string; name: string; deleted: true }> =>
  store.transaction(async (tx) => {
    const { tenant_id: tenantId, name } = await readClient(tx, clientId);
    await removeClient(tx, clientId);
    const action = "admin.client_deleted";
    const metadata = { client: name };
    await record?.(tx, { tenantId, action, resourceId: clientId, metadata });
    return { clientId, name, deleted: true };
  });
