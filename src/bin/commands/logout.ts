import { keyHeader } from "../../broker/credentials.ts";
import type { Profile, ProfileEntry } from "../../broker/profiles.ts";
import type { Client } from "../../client/port.ts";
import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import type { Io } from "./io.ts";
import { diagnoseAddress } from "../doctor/address-diagnosis.ts";
import type { Remote } from "../../config/config.ts";
import {
  CALL_OPTIONS,
  type PasswordOptions,
  withSession,
  readPerson,
  revokeKey,
  withClient,
  invalidRequest,
} from "./person.ts";
import { toRemote, openStoredProfiles } from "../compose/profile.ts";

/** Revokes the key with itself; returns whether it is invalid afterwards. */
const revokeOwnKey = async (client: Client, word: string, profile: Profile): Promise<boolean> => {
  const { credentials, tenantId, keyId } = profile;
  if (credentials.apiKey === undefined) return true;
  if (tenantId === undefined || keyId === undefined) return false;
  const header = keyHeader(word, credentials.apiKey);
  return client.call(contract.api_keys.delete, { tenantId, keyId }, header, CALL_OPTIONS).then(
    () => true,
    (error: unknown) => {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 401 || error.status === 404) return true;
      if (error.status === 403) return false;
      throw error;
    },
  );
};

/** Revokes the key; another credential than the key itself asks for the password. */
const revokeStoredKey = async (
  io: Io,
  { entry, profile, remote }: { entry: ProfileEntry; profile: Profile | undefined; remote: Remote },
  options: PasswordOptions,
): Promise<void> => {
  const { config } = io;
  const headerWord = config.ownHeaderWord ?? entry.headerWord ?? config.headerWord;
  await withClient({ ...config, headerWord }, remote, async (client) => {
    // Without the key from the keychain there is nothing to revoke with.
    if (profile !== undefined && (await revokeOwnKey(client, headerWord.toLowerCase(), profile)))
      return;
    const person = await readPerson(io, { known: entry.email, remote, ...options });
    const platform = { client, headerWord, gateway: remote.gateway };
    const revoked = await withSession(platform, person, (session) => revokeKey(session, entry));
    if (revoked) return;
    throw invalidRequest(
      `${remote.gateway} did not revoke the key ${entry.keyId}, so the profile was not removed.`,
    );
  });
};

/** Revokes the key of a profile, and returns whether it is revoked: a platform that is gone cannot. */
const tryToRevoke = async (
  io: Io,
  entry: ProfileEntry,
  profile: Profile | undefined,
  options: PasswordOptions,
): Promise<boolean> => {
  const remote = toRemote(entry);
  if (entry.keyId === undefined || remote === undefined) return false;
  const { ok, found, hint } = await diagnoseAddress(remote.gateway, "gateway", io.config);
  if (ok) {
    await revokeStoredKey(io, { entry, profile, remote }, options);
    return true;
  }
  io.notify(found);
  if (hint !== undefined) io.notify(hint);
  io.notify(
    `The key ${entry.keyId} was not revoked and may still be valid: its owner or an administrator revokes it at the platform, and changing the owner's password ends it.`,
  );
  return false;
};

/** Revokes the key that `login` created, and removes the profile, also if the platform is gone. */
export const logout = async (io: Io, options: PasswordOptions): Promise<void> => {
  const { config, print } = io;
  const { profile: name } = config;
  const profiles = openStoredProfiles(config);
  const entry = await profiles.find(name);
  if (entry === undefined) {
    throw new Problem("not_found", `There is no stored profile ${name}; "profiles" names them.`);
  }
  const profile = await profiles.read(name).catch(() => undefined);
  const keyRevoked = await tryToRevoke(io, entry, profile, options);
  await profiles.remove(name);
  print({ profile: name, removed: true, keyRevoked });
};
