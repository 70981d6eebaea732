import { keyHeader, sessionHeader } from "../../broker/credentials.ts";
import type { Profile } from "../../broker/profiles.ts";
import { createClient } from "../../client/client.ts";
import type { Client } from "../../client/port.ts";
import { remoteTransport } from "../../client/remote.ts";
import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import { Login } from "../../contract/operations/auth.ts";
import type { z } from "zod";
import { createLog } from "../../kit/log.ts";
import { Secret } from "../../kit/secret.ts";
import type { Config, Remote } from "../config.ts";
import type { Io } from "../io.ts";
import { storedProfiles, writtenProfiles } from "../profile.ts";

const AS = { tool: "login" };

const wrong = (message: string): Problem => new Problem("invalid_request", message);

const withClient = async <T>(
  config: Config,
  baseUrls: Remote,
  act: (client: Client) => Promise<T>,
): Promise<T> => {
  const { headerWord, requestMs } = config;
  const log = createLog(config.level);
  const client = createClient({
    transport: remoteTransport({ baseUrls, requestMs }),
    headerWord,
    log,
  });
  try {
    return await act(client);
  } finally {
    await client.close();
  }
};

type Person = { email: string; password: Secret };

const passwordOf = async ({ ask, readInput }: Io, email: string): Promise<Secret> => {
  const text =
    ask === undefined
      ? (await readInput()).replace(/\r?\n$/, "")
      : await ask.hidden(`Password of ${email}`);
  if (text === "") throw wrong("No password was given: type it, or send it on standard input.");
  return new Secret(text);
};

const personOf = async (io: Io, known: string | undefined): Promise<Person> => {
  const { credentials } = io.config;
  const email = credentials.email ?? known ?? (await io.ask?.line("E-mail address"));
  if (email === undefined) throw wrong("Whose login? Name it with --email or RECEIVABLES_EMAIL.");
  return { email, password: credentials.password ?? (await passwordOf(io, email)) };
};

type Opened = z.infer<typeof Login>;
type Session = { token: Secret; login: Opened };

const logIn = async (client: Client, { email, password }: Person): Promise<Session> => {
  const args = { email, password: password.reveal() };
  const login = Login.parse((await client.call(contract.auth.login, args, {}, AS)).output);
  return { token: new Secret(login.accessToken), login };
};

const logOut = (client: Client, token: Secret): Promise<unknown> =>
  client.call(contract.auth.logout, { accessToken: token.reveal() }, {}, AS).catch(() => undefined);

const tenantOf = async ({ config, ask }: Io, { tenants }: Opened): Promise<string> => {
  const ids = tenants.map(({ tenantId }) => tenantId);
  const [only, ...more] = ids;
  if (config.tenantId !== undefined) {
    if (ids.includes(config.tenantId)) return config.tenantId;
    throw wrong(
      `This login has no access to ${config.tenantId}, but to ${ids.join(", ") || "none"}.`,
    );
  }
  if (only === undefined) throw wrong("This login has access to no tenant.");
  if (more.length === 0) return only;
  if (ask === undefined) throw wrong(`Which tenant? Choose with --tenant-id: ${ids.join(", ")}.`);
  return ask.choose(
    "Tenant",
    tenants.map(({ tenantId, tenantName }) => ({
      name: `${tenantName} (${tenantId})`,
      value: tenantId,
    })),
  );
};

const makeKey = async (client: Client, word: string, token: Secret, tenantId: string) => {
  const header = sessionHeader(word, token);
  const { output } = await client.call(contract.api_keys.create, { tenantId }, header, AS);
  return contract.api_keys.create.output.parse(output);
};

export type LoginOptions = { keepPassword?: boolean | undefined };

/** Signs in once and keeps what opens the platform from now on: an API key, or the password if told so. */
export const login = async (io: Io, { keepPassword }: LoginOptions): Promise<void> => {
  const { config, print } = io;
  const { profile: name } = config;
  const profiles = storedProfiles(config);
  const before = await profiles.read(name).catch(() => undefined);
  const remote = config.remote ?? (before && remoteOf(before));
  if (remote === undefined) throw wrong("Which platform? Name it with --base-url.");
  const person = await personOf(io, before?.credentials.email);
  await withClient(config, remote, async (client) => {
    const { token, login: opened } = await logIn(client, person);
    try {
      const tenantId = await tenantOf(io, opened);
      const word = config.headerWord.toLowerCase();
      const key = keepPassword === true ? undefined : await makeKey(client, word, token, tenantId);
      const kept =
        key === undefined ? { password: person.password } : { apiKey: new Secret(key.apiKey) };
      const extApiKey = config.credentials.extApiKey ?? before?.credentials.extApiKey;
      const credentials = { email: person.email, ...kept, extApiKey };
      const [baseUrl, extBaseUrl] = [remote.gateway, remote.export];
      await profiles.write({ name, baseUrl, extBaseUrl, tenantId, credentials, keyId: key?.keyId });
      if (before?.keyId !== undefined && before.baseUrl === baseUrl) {
        await revoke(client, { word, token, profile: before });
      }
      print(shown({ name, baseUrl, extBaseUrl, tenantId, credentials, keyId: key?.keyId }));
    } finally {
      await logOut(client, token);
    }
  });
};

const remoteOf = ({ baseUrl, extBaseUrl }: Profile): Remote => ({
  gateway: baseUrl,
  export: extBaseUrl ?? baseUrl,
});

const revoke = async (
  client: Client,
  { word, token, profile }: { word: string; token: Secret; profile: Profile },
): Promise<boolean> => {
  const { keyId, tenantId } = profile;
  if (keyId === undefined || tenantId === undefined) return false;
  const header = sessionHeader(word, token);
  return client.call(contract.api_keys.delete, { tenantId, keyId }, header, AS).then(
    () => true,
    (error: unknown) => {
      // It is gone already, which is what was wanted.
      if (error instanceof Problem) return error.status === 404;
      throw error;
    },
  );
};

/** Whether the profile's key still opens the platform. */
const isLive = async (client: Client, word: string, { credentials }: Profile): Promise<boolean> => {
  if (credentials.apiKey === undefined) return false;
  const header = keyHeader(word, credentials.apiKey);
  return client.call(contract.users.profile, {}, header, AS).then(
    () => true,
    (error: unknown) => !(error instanceof Problem && error.status === 401),
  );
};

/** Revokes the key that `login` made, and forgets the profile. */
export const logout = async (io: Io): Promise<void> => {
  const { config, print } = io;
  const { profile: name } = config;
  const profiles = storedProfiles(config);
  const profile = await profiles.read(name);
  if (profile === undefined) throw new Problem("not_found", `There is no stored profile ${name}.`);
  const { keyId } = profile;
  if (keyId !== undefined) {
    await withClient(config, remoteOf(profile), async (client) => {
      const word = config.headerWord.toLowerCase();
      if (!(await isLive(client, word, profile))) return;
      // A key may not delete keys: only the person can.
      const { token } = await logIn(client, await personOf(io, profile.credentials.email));
      try {
        if (await revoke(client, { word, token, profile })) return;
        throw wrong(`The platform did not revoke the key ${keyId}; the profile is kept.`);
      } finally {
        await logOut(client, token);
      }
    });
  }
  await profiles.remove(name);
  print({ profile: name, removed: true, keyRevoked: keyId !== undefined });
};

/** A profile without any secret. */
const shown = ({ name, baseUrl, extBaseUrl, tenantId, keyId, credentials }: Profile) => ({
  profile: name,
  baseUrl,
  extBaseUrl: extBaseUrl ?? baseUrl,
  tenantId: tenantId ?? null,
  email: credentials.email ?? null,
  credential: credentialKind(credentials),
  keyId: keyId ?? null,
  extApiKey: credentials.extApiKey !== undefined,
});

const credentialKind = ({ apiKey, password }: Profile["credentials"]): string => {
  if (apiKey !== undefined) return "api_key";
  return password === undefined ? "none" : "password";
};

/** Every profile, from the file and from `login`, one per line. */
export const listProfiles = async ({ config, print }: Io): Promise<void> => {
  const written = writtenProfiles(config);
  const names = new Set(written.map(({ name }) => name));
  const stored = await storedProfiles(config).list();
  for (const profile of written) print({ ...shown(profile), from: "file" });
  for (const profile of stored.filter(({ name }) => !names.has(name))) {
    print({ ...shown(profile), from: "login" });
  }
};
