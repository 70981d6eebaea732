import { Problem } from "../../contract/errors.ts";
import {
  createClient,
  deleteClient,
  listClients,
  type NewCredential,
  rotateClient,
} from "../../platform/admin/clients.ts";
import { printFromStore, withStore } from "./admin.ts";
import { readTextFile } from "./input-file.ts";
import type { Io } from "./io.ts";

type CredentialOptions = { publicKey?: string; jwks?: string; secret?: boolean };

/** Reads the credential that exactly one of the options names. */
const readCredential = async ({
  publicKey,
  jwks,
  secret = false,
}: CredentialOptions): Promise<NewCredential> => {
  const count = [publicKey !== undefined, jwks !== undefined, secret].filter(Boolean).length;
  if (count !== 1) {
    throw new Problem(
      "invalid_request",
      "Name the client's credential with one of --public-key FILE, --jwks FILE and --secret.",
    );
  }
  if (publicKey !== undefined) return { publicKey: await readTextFile("file", publicKey) };
  return jwks === undefined ? "secret" : { jwks: await readTextFile("file", jwks) };
};

type NewClientOptions = CredentialOptions & { tenant: string; name: string; role: string };

export const runClientCreate = async (
  io: Io,
  { tenant: tenantId, name, role, ...options }: NewClientOptions,
): Promise<void> => {
  const credential = await readCredential(options);
  await printFromStore(io, (base) => createClient(base, { tenantId, name, role, credential }));
};

export const runClientList = (io: Io, { tenant }: { tenant?: string }): Promise<void> =>
  withStore(io, async ({ store }) => {
    for (const client of await listClients(store.read, tenant)) io.print(client);
  });

export const runClientRotate = async (
  io: Io,
  clientId: string,
  options: CredentialOptions,
): Promise<void> => {
  const credential = await readCredential(options);
  await printFromStore(io, (base) => rotateClient(base, { clientId, credential }));
};

export const runClientDelete = (io: Io, clientId: string): Promise<void> =>
  printFromStore(io, (base) => deleteClient(base, clientId));
