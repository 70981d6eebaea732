import { sessionHeader } from "../../broker/credentials.ts";
import {
  describeProfile,
  type SecretLocation,
  type Profile,
  type Profiles,
} from "../../broker/profiles.ts";
import { contract } from "../../contract/index.ts";
import { Secret } from "../../kit/secret.ts";
import type { Io } from "./io.ts";
import {
  CALL_OPTIONS,
  type PasswordOptions,
  withSession,
  type Person,
  readPerson,
  revokeKey,
  type Session,
  withClient,
  invalidRequest,
} from "./person.ts";
import { toRemote, openStoredProfiles } from "../compose/profile.ts";
import { toOutput } from "./profiles.ts";

const chooseTenant = async ({ config, ask }: Io, { login }: Session): Promise<string> => {
  const { tenants } = login;
  const ids = tenants.map(({ tenantId }) => tenantId);
  const [only, ...more] = ids;
  if (config.tenantId !== undefined) {
    if (ids.includes(config.tenantId)) return config.tenantId;
    throw invalidRequest(
      `This login has no access to ${config.tenantId}, only to ${ids.join(", ") || "no tenant"}.`,
    );
  }
  if (only === undefined) throw invalidRequest("This login has access to no tenant.");
  if (more.length === 0) return only;
  if (ask === undefined)
    throw invalidRequest(`Which tenant? Choose with --tenant-id: ${ids.join(", ")}.`);
  return ask.choose(
    "Tenant",
    tenants.map(({ tenantId, tenantName }) => ({
      name: `${tenantName} (${tenantId})`,
      value: tenantId,
    })),
  );
};

export type LoginOptions = PasswordOptions & { keepPassword?: boolean | undefined };

/** Without a terminal the answer is an API key, because it can be revoked. */
const wantsKey = async ({ ask }: Io, { keepPassword }: LoginOptions): Promise<boolean> => {
  if (keepPassword === true) return false;
  if (ask === undefined) return true;
  const choice = await ask.choose("Which credential should be stored for the platform?", [
    { name: "a new API key (the password is not stored)", value: "api_key" },
    { name: "the password", value: "password" },
  ]);
  return choice === "api_key";
};

const makeKey = async ({ client, word, token }: Session, tenantId: string) => {
  const header = sessionHeader(word, token);
  const { output } = await client.call(
    contract.api_keys.create,
    { tenantId },
    header,
    CALL_OPTIONS,
  );
  return contract.api_keys.create.output.parse(output);
};

/** Stores the profile; revokes its new API key if that fails. */
const storeProfile = async (
  profiles: Profiles,
  session: Session,
  profile: Profile,
): Promise<SecretLocation> => {
  try {
    return await profiles.write(profile);
  } catch (error) {
    await revokeKey(session, profile).catch(() => false);
    throw error;
  }
};

const formatLocation = (location: SecretLocation): string => {
  if (location.in === "keychain") return "It is stored in the keychain of this computer.";
  const why = location.why === undefined ? "" : ` No keychain: ${location.why}.`;
  return `It is stored encrypted in ${location.path}, which only you can read.${why}`;
};

/** Revokes the key of the earlier sign-in, which this one replaces. */
const revokeFormerKey = async (
  io: Io,
  session: Session,
  before: Profile,
  now: Profile,
): Promise<void> => {
  if (before.keyId === undefined) return;
  const same = before.baseUrl === now.baseUrl;
  if (same && (await revokeKey(session, before).catch(() => false))) return;
  io.notify(
    `The key ${before.keyId} that the profile had at ${before.baseUrl} may still be valid: revoke it there.`,
  );
};

/** Signs in once and stores a profile with a new API key, or with the password if the person chose that. */
export const login = async (io: Io, options: LoginOptions): Promise<void> => {
  const { config, print, notify } = io;
  const { profile: name } = config;
  const profiles = openStoredProfiles(config);
  const before = await profiles.read(name).catch(() => undefined);
  const remote = config.remote ?? (before && toRemote(before));
  if (remote === undefined) {
    throw invalidRequest(
      "The address of the platform is missing: set --base-url, such as --base-url https://platform.example.com.",
    );
  }
  const { email: known } = before?.credentials ?? {};
  const person = await readPerson(io, { known, remote, ...options });
  const headerWord = config.ownHeaderWord ?? before?.headerWord ?? config.headerWord;

  const signedIn = async (session: Session) => {
    const tenantId = await chooseTenant(io, session);
    const key = (await wantsKey(io, options)) ? await makeKey(session, tenantId) : undefined;
    const profile: Profile = {
      name,
      baseUrl: remote.gateway,
      extBaseUrl: remote.export,
      tenantId,
      headerWord,
      credentials: {
        ...toCredentials(person, key),
        extApiKey: config.credentials.extApiKey ?? before?.credentials.extApiKey,
      },
      keyId: key?.keyId,
    };
    const place = await storeProfile(profiles, session, profile);
    if (before !== undefined) await revokeFormerKey(io, session, before, profile);
    notify(`The ${key === undefined ? "password" : "API key"} is stored in the profile ${name}.`);
    notify(formatLocation(place));
    print(toOutput(describeProfile(profile, place.in)));
  };

  await withClient({ ...config, headerWord }, remote, (client) =>
    withSession({ client, headerWord, gateway: remote.gateway }, person, signedIn),
  );
};

const toCredentials = ({ email, password }: Person, key: { apiKey: string } | undefined) =>
  key === undefined ? { email, password } : { email, apiKey: new Secret(key.apiKey) };
