import { keyHeader } from "../../broker/credentials.ts";
import type { Profile, ProfileEntry } from "../../broker/profiles.ts";
import type { Client } from "../../client/port.ts";
import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import type { Io } from "../io.ts";
import {
  CALL_OPTIONS,
  withSession,
  readPerson,
  revokeKey,
  withClient,
  invalidRequest,
} from "../person.ts";
import { toRemote, openStoredProfiles } from "../profile.ts";

/** Revokes the key with itself; returns whether it is invalid afterwards. */
const revokeOwnKey = async (client: Client, word: string, profile: Profile): Promise<boolean> => {
  const { credentials, tenantId, keyId } = profile;
  if (credentials.apiKey === undefined) return true;
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

const revokeStoredKey = async (io: Io, entry: ProfileEntry, profile: Profile | undefined) => {
  const { config } = io;
  const { headerWord } = config;
  const remote = toRemote(entry);
  if (remote === undefined) return;
  await withClient(config, remote, async (client) => {
    // Without the key from the keychain there is nothing to revoke with.
    if (profile !== undefined && (await revokeOwnKey(client, headerWord.toLowerCase(), profile)))
      return;
    const person = await readPerson(io, entry.email);
    const revoked = await withSession({ client, headerWord }, person, (session) =>
      revokeKey(session, entry),
    );
    if (revoked) return;
    throw invalidRequest(
      `The platform did not revoke the key ${entry.keyId}, so the profile was not removed.`,
    );
  });
};

/** Revokes the key that `login` created, and removes the profile. */
export const logout = async (io: Io): Promise<void> => {
  const { config, print } = io;
  const { profile: name } = config;
  const profiles = openStoredProfiles(config);
  const entry = await profiles.find(name);
  if (entry === undefined) {
    throw new Problem("not_found", `There is no stored profile ${name}; "profiles" names them.`);
  }
  const keyRevoked = entry.keyId !== undefined;
  if (keyRevoked)
    await revokeStoredKey(io, entry, await profiles.read(name).catch(() => undefined));
  await profiles.remove(name);
  print({ profile: name, removed: true, keyRevoked });
};
