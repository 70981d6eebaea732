import { keyHeader } from "../../broker/credentials.ts";
import type { Profile, ProfileEntry } from "../../broker/profiles.ts";
import type { Client } from "../../client/port.ts";
import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import type { Io } from "../io.ts";
import { AS, asPerson, personOf, revoke, withClient, wrong } from "../person.ts";
import { remoteOf, storedProfiles } from "../profile.ts";

/** Whether the profile's key still opens the platform; one that the keychain does not give may. */
const isLive = async (
  client: Client,
  word: string,
  profile: Profile | undefined,
): Promise<boolean> => {
  if (profile === undefined) return true;
  const { apiKey } = profile.credentials;
  if (apiKey === undefined) return false;
  return client.call(contract.users.profile, {}, keyHeader(word, apiKey), AS).then(
    () => true,
    (error: unknown) => !(error instanceof Problem && error.status === 401),
  );
};

const revokeKey = async (io: Io, entry: ProfileEntry, profile: Profile | undefined) => {
  const { config } = io;
  const { headerWord } = config;
  const remote = remoteOf(entry);
  if (remote === undefined) return;
  await withClient(config, remote, async (client) => {
    if (!(await isLive(client, headerWord.toLowerCase(), profile))) return;
    const person = await personOf(io, entry.email);
    const revoked = await asPerson({ client, headerWord }, person, (session) =>
      revoke(session, entry),
    );
    if (revoked) return;
    throw wrong(`The platform did not revoke the key ${entry.keyId}; the profile is kept.`);
  });
};

/** Revokes the key that `login` made, and forgets the profile. */
export const logout = async (io: Io): Promise<void> => {
  const { config, print } = io;
  const { profile: name } = config;
  const profiles = storedProfiles(config);
  const entry = await profiles.find(name);
  if (entry === undefined) throw new Problem("not_found", `There is no stored profile ${name}.`);
  const keyRevoked = entry.keyId !== undefined;
  if (keyRevoked) await revokeKey(io, entry, await profiles.read(name).catch(() => undefined));
  await profiles.remove(name);
  print({ profile: name, removed: true, keyRevoked });
};
