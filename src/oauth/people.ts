import { createHash } from "node:crypto";
import { keyHeader, sessionHeader } from "../broker/credentials.ts";
import type { Client } from "../client/port.ts";
import { Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import { Login } from "../contract/operations/auth.ts";
import { type Clock, DAY } from "../kit/clock.ts";
import { errorFields, type Log } from "../kit/log.ts";
import { Secret } from "../kit/secret.ts";
import type { Records } from "./records.ts";

const AS = { tool: "sign_in" };
const FOREVER_MS = 36_500 * DAY;

export type Tenant = { id: string; name: string };

/** A person who has just signed in with the platform; the session ends when the sign-in does. */
export type SignedIn = { token: Secret; userId: string; email: string; tenants: Tenant[] };

/** A person at a tenant, and the API key that was made for this server. */
export type Person = {
  id: string;
  userId: string;
  email: string;
  tenant: Tenant;
  keyId: string;
  apiKey: Secret;
};

type Kept = Omit<Person, "apiKey"> & { apiKey: string };
type Left = { keyId: string; tenantId: string };

export type PeopleNeeds = {
  client: Client;
  headerWord: string;
  records: Records;
  /** Names the platform, since ids of different ones may be alike. */
  platform: string;
  /** The one tenant that this server works for, where it is one. */
  tenantId: string | undefined;
  now: Clock;
  log: Log;
};

const short = (...parts: string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 32);

const isRefusal = (error: unknown): error is Problem =>
  error instanceof Problem && [401, 403, 404].includes(error.status);

const RETRY_SECONDS = 10;

/** A platform that fails says nothing about the key: the grant stays, and the host can try again. */
const cannotCheckKey = (cause: unknown): Problem =>
  new Problem(
    "unavailable",
    `The platform cannot confirm your access at the moment. Try again in ${RETRY_SECONDS} seconds.`,
    { retryAfterSeconds: RETRY_SECONDS },
    cause,
  );

/** People of the platform: who they are is the platform's to say, and a key of their own is all that is kept. */
export const createPeople = (needs: PeopleNeeds) => {
  const { client, records, platform, now, log } = needs;
  const word = needs.headerWord.toLowerCase();
  const idOf = (userId: string, tenantId: string): string => short(platform, userId, tenantId);
  const leftBy = (userId: string): string => short(platform, userId);

  const deleteKey = (
    { keyId, tenantId }: Left,
    credential: Record<string, string>,
  ): Promise<unknown> =>
    client.call(contract.api_keys.delete, { tenantId, keyId }, credential, AS).catch((error) => {
      // It is gone already, which is what was wanted.
      if (!(error instanceof Problem) || error.status !== 404) throw error;
    });

  /** Keys that the platform let only a signed-in person delete. */
  const deleteLeft = async ({ token, userId }: SignedIn): Promise<void> => {
    for (const left of (await records.ownedBy("LeftKey", leftBy(userId))) as Left[]) {
      // oxlint-disable-next-line no-await-in-loop -- few, and of one person
      await deleteKey(left, sessionHeader(word, token));
      // oxlint-disable-next-line no-await-in-loop -- few, and of one person
      await records.remove("LeftKey", left.keyId);
    }
  };

  const signOut = (token: Secret): Promise<unknown> =>
    client
      .call(contract.auth.logout, { accessToken: token.reveal() }, {}, AS)
      .catch((error: unknown) => log.warn("oauth.sign_out_failed", errorFields(error)));

  const find = async (id: string): Promise<Person | undefined> => {
    const kept = (await records.find("Person", id))?.value as Kept | undefined;
    return kept && { ...kept, apiKey: new Secret(kept.apiKey) };
  };

  const isLive = ({ apiKey }: Person): Promise<boolean> =>
    client.call(contract.users.profile, {}, keyHeader(word, apiKey), AS).then(
      () => true,
      (error: unknown) => {
        if (isRefusal(error)) return false;
        throw cannotCheckKey(error);
      },
    );

  /** A new key of the person's own, which nothing here remembers. */
  const makeKey = async ({ token }: SignedIn, tenant: Tenant) => {
    const header = sessionHeader(word, token);
    const { output } = await client.call(
      contract.api_keys.create,
      { tenantId: tenant.id },
      header,
      AS,
    );
    const { keyId, apiKey } = contract.api_keys.create.output.parse(output);
    return { keyId, apiKey: new Secret(apiKey) };
  };

  const mint = async (who: SignedIn, tenant: Tenant): Promise<Person> => {
    const { userId, email } = who;
    const key = await makeKey(who, tenant);
    return { id: idOf(userId, tenant.id), userId, email, tenant, ...key };
  };

  const clear = ({ apiKey, ...person }: Person) => ({
    kind: "Person",
    id: person.id,
    value: { ...person, apiKey: apiKey.reveal() } satisfies Kept,
    expiresAt: now() + FOREVER_MS,
    owner: leftBy(person.userId),
  });

  /** The person's key is ended, with the platform where it allows a key to end itself, and here in any case. */
  const retire = async ({ keyId, tenant, userId, apiKey }: Person): Promise<void> => {
    const left: Left = { keyId, tenantId: tenant.id };
    try {
      await deleteKey(left, keyHeader(word, apiKey));
      log.info("oauth.key_revoked", { keyId });
    } catch (error) {
      log.warn("oauth.key_left", { keyId, ...errorFields(error) });
      const expiresAt = now() + FOREVER_MS;
      const owner = leftBy(userId);
      await records.write({ kind: "LeftKey", id: keyId, value: left, expiresAt, owner });
    }
  };

  return {
    idOf,
    find,
    isLive,
    makeKey,
    signOut,
    /** Throws Problem: the password is wrong, too many have been tried, the platform does not answer. */
    async signIn(email: string, password: Secret): Promise<SignedIn> {
      const args = { email, password: password.reveal() };
      const login = Login.parse((await client.call(contract.auth.login, args, {}, AS)).output);
      const tenants = login.tenants
        .filter(({ tenantId }) => needs.tenantId === undefined || tenantId === needs.tenantId)
        .map(({ tenantId, tenantName }) => ({ id: tenantId, name: tenantName }));
      const home = (one: Tenant): number => (one.id === login.defaultTenantId ? 0 : 1);
      const { userId } = login;
      const token = new Secret(login.accessToken);
      const sorted = tenants.toSorted((one, other) => home(one) - home(other));
      return { token, userId, email: login.email, tenants: sorted };
    },
    /** Makes sure that there is a key for the person at the tenant. The grant that needs it must stand already. */
    async settle(who: SignedIn, tenant: Tenant): Promise<Person> {
      await deleteLeft(who).catch((error: unknown) =>
        log.warn("oauth.left_keys", errorFields(error)),
      );
      const known = await find(idOf(who.userId, tenant.id));
      if (known !== undefined && (await isLive(known))) return known;
      const made = await mint(who, tenant);
      if (known !== undefined) {
        await records.write(clear(made));
        return made;
      }
      if (await records.add(clear(made))) return made;
      // Another process was faster: its key is as good.
      await deleteKey({ keyId: made.keyId, tenantId: tenant.id }, sessionHeader(word, who.token));
      return (await find(made.id)) ?? made;
    },
    /** Ends a person's key where no grant needs it any more. */
    async leave(id: string): Promise<void> {
      const kept = (await records.removeUngranted("Person", id)) as Kept | undefined;
      if (kept !== undefined) await retire({ ...kept, apiKey: new Secret(kept.apiKey) });
    },
    /** Ends the keys of all whose grants have expired. */
    async leaveIdle(): Promise<void> {
      for (const { id } of (await records.ungranted("Person")) as Kept[]) {
        // oxlint-disable-next-line no-await-in-loop -- nobody waits for it
        await this.leave(id);
      }
    },
    /** A person at each tenant where they have a key. */
    async ofUser(userId: string): Promise<Person[]> {
      const all = (await records.ownedBy("Person", leftBy(userId))) as Kept[];
      return all.map((kept) => ({ ...kept, apiKey: new Secret(kept.apiKey) }));
    },
  };
};

export type People = ReturnType<typeof createPeople>;
