import { hash } from "node:crypto";
import { keyHeader, sessionHeader } from "../broker/credentials.ts";
import { Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import { DAY } from "../kit/clock.ts";
import { toErrorFields } from "../kit/log.ts";
import { Secret } from "../kit/secret.ts";
import type { OauthContext } from "./context.ts";
import type { DirectoryClient, Tenant } from "./directory.ts";
import { CALL_OPTIONS, type PlatformSession } from "./platform-session.ts";

const NEVER_MS = 36_500 * DAY;

/** A person at one tenant, with the API key that this server created for them. */
export type Person = {
  id: string;
  userId: string;
  email: string;
  tenant: Tenant;
  keyId: string;
  apiKey: Secret;
  /** Whether it is a client that an administrator created, and no person. */
  isClient?: boolean;
};

/** The parts of the authorization server that people's API keys need. */
export type PeopleContext = Pick<
  OauthContext,
  "platform" | "headerWord" | "records" | "client" | "now" | "log"
>;

type StoredPerson = Omit<Person, "apiKey"> & { apiKey: string };
/** A key that could not be deleted yet, because the platform requires a session for it. */
type UndeletedKey = { keyId: string; tenantId: string };
type Headers = Record<string, string>;

// The platform's address is part of the hash, because different platforms may use the same ids.
const hashParts = (...parts: string[]): string =>
  hash("sha256", JSON.stringify(parts), "base64url").slice(0, 32);

export const personIdOf = ({ platform }: PeopleContext, userId: string, tenantId: string): string =>
  hashParts(platform, userId, tenantId);

/** Returns the id under which a client is a person here. It changes with each new credential. */
export const clientPersonIdOf = (
  { platform }: PeopleContext,
  { id, version, tenant }: Pick<DirectoryClient, "id" | "version" | "tenant">,
): string => hashParts(platform, "client", id, String(version), tenant.id);

/** Returns the owner of the records of a user at all tenants. */
export const userIdOf = ({ platform }: PeopleContext, userId: string): string =>
  hashParts(platform, userId);

const headerOf = ({ headerWord }: PeopleContext, apiKey: Secret): Headers =>
  keyHeader(headerWord.toLowerCase(), apiKey);

const sessionHeaderOf = ({ headerWord }: PeopleContext, { token }: PlatformSession): Headers =>
  sessionHeader(headerWord.toLowerCase(), token);

const fromStored = (stored: Record<string, unknown>): Person => {
  const { apiKey, ...person } = stored as StoredPerson;
  return { ...person, apiKey: new Secret(apiKey) };
};

const toRecord = (context: PeopleContext, { apiKey, ...person }: Person) => ({
  kind: "Person",
  id: person.id,
  value: { ...person, apiKey: apiKey.reveal() } satisfies StoredPerson,
  expiresAt: context.now() + NEVER_MS,
  owner: userIdOf(context, person.userId),
});

/** Stores a person; false if another process has stored them already. */
export const addPerson = (context: PeopleContext, person: Person): Promise<boolean> =>
  context.records.add(toRecord(context, person));

export const savePerson = (context: PeopleContext, person: Person): Promise<void> =>
  context.records.write(toRecord(context, person));

export const findPerson = async (
  { records }: PeopleContext,
  id: string,
): Promise<Person | undefined> => {
  const record = await records.find("Person", id);
  return record && fromStored(record.value);
};

/** Removes the record of a person whose API key has ended. */
export const forgetPerson = async ({ records }: PeopleContext, id: string): Promise<void> => {
  await records.remove("Person", id);
};

/** Returns the user's records at all tenants for which this server has a key of theirs. */
export const listPeopleOfUser = async (context: PeopleContext, userId: string): Promise<Person[]> =>
  (await context.records.listByOwner("Person", userIdOf(context, userId))).map(fromStored);

const RETRY_SECONDS = 10;

const cannotCheckKey = (cause: unknown): Problem =>
  new Problem(
    "unavailable",
    `The platform cannot confirm your access at the moment. Try again in ${RETRY_SECONDS} seconds.`,
    { retryAfterSeconds: RETRY_SECONDS },
    cause,
  );

/**
 * Whether the platform still accepts a person's API key.
 *
 * @throws {Problem} unavailable, if the platform fails to answer, so that the grant stays
 */
export const isKeyAccepted = async (
  context: PeopleContext,
  { apiKey }: Person,
): Promise<boolean> => {
  const headers = headerOf(context, apiKey);
  try {
    await context.client.call(contract.users.profile, {}, headers, CALL_OPTIONS);
    return true;
  } catch (error) {
    if (error instanceof Problem && [401, 403, 404].includes(error.status)) return false;
    throw cannotCheckKey(error);
  }
};

const { profile, list_v1 } = contract.users;

/** Reads a person's role from the list of their tenant's users; undefined if they may not read the list. */
const readListedRole = async (
  { client }: PeopleContext,
  { userId, tenant: { id: tenantId } }: Person,
  headers: Headers,
): Promise<string | undefined> => {
  try {
    const { output } = await client.call(list_v1, { tenantId }, headers, { tool: undefined });
    return output.find((user) => user.userId === userId)?.role;
  } catch (error) {
    if (error instanceof Problem && [403, 404].includes(error.status)) return undefined;
    throw error;
  }
};

/**
 * Reads the name of a person's role at their tenant; undefined if they do not belong to it any more, or the platform
 * does not tell them. The role in a profile is that at the user's default tenant. @throws {Problem}
 */
export const readRole = async (
  context: PeopleContext,
  person: Person,
): Promise<string | undefined> => {
  const headers = headerOf(context, person.apiKey);
  const { output } = await context.client.call(profile, {}, headers, { tool: undefined });
  const { role, tenants, defaultTenantId } = output;
  const ids = tenants.map(({ tenantId }) => tenantId);
  if (!ids.includes(person.tenant.id)) return undefined;
  const [only, ...others] = ids;
  const homeId =
    ids.find((id) => id === defaultTenantId) ?? (others.length === 0 ? only : undefined);
  return homeId === person.tenant.id ? role : readListedRole(context, person, headers);
};

/** Creates an API key for the session's user. It is not stored. */
export const createApiKey = async (
  context: PeopleContext,
  session: PlatformSession,
  { id: tenantId }: Tenant,
): Promise<{ keyId: string; apiKey: Secret }> => {
  const headers = sessionHeaderOf(context, session);
  const { create } = contract.api_keys;
  const { output } = await context.client.call(create, { tenantId }, headers, CALL_OPTIONS);
  const { keyId, apiKey } = output;
  return { keyId, apiKey: new Secret(apiKey) };
};

/** Deletes an API key at the platform; succeeds if it does not exist any more. */
const deleteApiKey = async (
  { client }: PeopleContext,
  { keyId, tenantId }: UndeletedKey,
  headers: Headers,
): Promise<void> => {
  try {
    await client.call(contract.api_keys.delete, { tenantId, keyId }, headers, CALL_OPTIONS);
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 404) throw error;
  }
};

const deleteUndeletedKeys = async (context: PeopleContext, session: PlatformSession) => {
  const { records } = context;
  const owner = userIdOf(context, session.userId);
  for (const key of (await records.listByOwner("LeftKey", owner)) as UndeletedKey[]) {
    await deleteApiKey(context, key, sessionHeaderOf(context, session));
    await records.remove("LeftKey", key.keyId);
  }
};

/** Returns the session's user at a tenant, with an API key that works. The grant that needs it must exist already. */
export const ensurePerson = async (
  context: PeopleContext,
  session: PlatformSession,
  tenant: Tenant,
): Promise<Person> => {
  const { log } = context;
  await deleteUndeletedKeys(context, session).catch((error: unknown) =>
    log.warn("oauth.left_keys", toErrorFields(error)),
  );
  const { userId, email } = session;
  const id = personIdOf(context, userId, tenant.id);
  const existing = await findPerson(context, id);
  if (existing !== undefined && (await isKeyAccepted(context, existing))) return existing;
  const key = await createApiKey(context, session, tenant);
  const person: Person = { id, userId, email, tenant, ...key };
  if (existing !== undefined) {
    await savePerson(context, person);
    return person;
  }
  if (await addPerson(context, person)) return person;
  // Another process has stored a key meanwhile.
  const unused = { keyId: key.keyId, tenantId: tenant.id };
  await deleteApiKey(context, unused, sessionHeaderOf(context, session));
  return (await findPerson(context, id)) ?? person;
};

/** Deletes a person's key. If the platform refuses, the key is deleted at the person's next sign-in. */
export const retireKey = async (context: PeopleContext, person: Person): Promise<void> => {
  const { keyId, tenant, userId, apiKey, isClient = false } = person;
  const { records, now, log } = context;
  const value: UndeletedKey = { keyId, tenantId: tenant.id };
  try {
    await deleteApiKey(context, value, headerOf(context, apiKey));
    log.info("oauth.key_revoked", { keyId });
  } catch (error) {
    // The key of a client ends with the client's credential, at the platform itself.
    if (isClient && error instanceof Problem && error.status === 401) return;
    log.warn("oauth.key_left", { keyId, ...toErrorFields(error) });
    const owner = userIdOf(context, userId);
    await records.write({ kind: "LeftKey", id: keyId, value, expiresAt: now() + NEVER_MS, owner });
  }
};

/** Removes a person who has no grant left, and deletes their API key. */
export const removeIfUngranted = async (context: PeopleContext, id: string): Promise<void> => {
  const removed = await context.records.removeUngranted("Person", id);
  if (removed !== undefined) await retireKey(context, fromStored(removed));
};

/** Removes all people whose grants have expired. */
export const removeUngranted = async (context: PeopleContext): Promise<void> => {
  for (const { id } of await context.records.listUngranted("Person")) {
    await removeIfUngranted(context, id as string);
  }
};
