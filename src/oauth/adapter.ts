import Provider, { type Adapter, type AdapterPayload, errors } from "oidc-provider";
import { DAY, MINUTE, SECOND } from "../kit/clock.ts";
import { getClientAddress } from "../kit/client-address.ts";
import { toClientNetwork } from "../kit/network.ts";
import type { OauthContext } from "./context.ts";
import { isDirectoryId } from "./directory.ts";
import { listDirectoryGrants, toClientMetadata } from "./directory-clients.ts";
import { revokeGrant } from "./grants.ts";
import type { Interactions } from "./interactions.ts";
import type { Records } from "./records.ts";

/** A client that registered itself is removed after this time unless a person grants it access. */
const UNUSED_CLIENT_MS = DAY;

const toText = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/** Returns the owner of a record: a grant's person, or the network that registered a client. */
const ownerOf = (kind: string, payload: AdapterPayload): string | undefined => {
  if (kind === "Grant") return toText(payload.accountId);
  const address = kind === "Client" ? getClientAddress() : undefined;
  return address === undefined ? undefined : toClientNetwork(address);
};

/**
 * Time in which a client may send its last refresh token again. The answer to the first request may have been lost, and
 * several windows of one host refresh at the same time.
 */
const REPEAT_MS = MINUTE;

/** The kind of record of a refresh token whose successor was used: from then on its reuse ends the grant. */
const SUPERSEDED = "SupersededToken";

/** Returns the id of the refresh token that the current request replaces. */
const findReplacedToken = (): string | undefined =>
  Provider.ctx?.oidc.entities["RotatedRefreshToken"]?.jti;

/** Stores nothing. */
const EMPTY_ADAPTER: Adapter = {
  upsert: async () => {},
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: async () => {},
  destroy: async () => {},
  revokeByGrantId: async () => {},
};

const createInteractionAdapter = (interactions: Interactions): Adapter => ({
  ...EMPTY_ADAPTER,
  upsert: async (id, payload) => interactions.write(id, payload),
  find: async (id) => interactions.find(id),
  destroy: async (id) => interactions.remove(id),
});

type Found = NonNullable<Awaited<ReturnType<Records["find"]>>>;

/** Tells whether a used refresh token may be used again, and records the use of its successors. */
const createRepeats = ({ records, now }: OauthContext) => ({
  async mayRepeat(kind: string, id: string, { consumedAt }: Found): Promise<boolean> {
    if (kind !== "RefreshToken" || consumedAt === null || now() - consumedAt >= REPEAT_MS) {
      return false;
    }
    return (await records.find(SUPERSEDED, id)) === undefined;
  },
  /** The use of a token proves that the answer with it has arrived, so the former one is not needed any more. */
  async endFormer({ value }: Found): Promise<void> {
    const former = toText(value["former"]);
    if (former === undefined) return;
    const expiresAt = now() + REPEAT_MS;
    await records.write({ kind: SUPERSEDED, id: former, value: {}, expiresAt });
  },
});

const createRecordAdapter = (context: OauthContext, kind: string, clientMs: number): Adapter => {
  const { records, now } = context;
  const repeats = createRepeats(context);
  const extendClient = async (id: string): Promise<void> => {
    const client = await records.find("Client", id);
    if (client === undefined) return;
    const { value } = client;
    await records.write({ kind: "Client", id, value, expiresAt: now() + clientMs });
  };
  return {
    ...EMPTY_ADAPTER,
    async upsert(id, payload, expiresIn) {
      const ms = expiresIn === undefined ? UNUSED_CLIENT_MS : expiresIn * SECOND;
      const grantId = kind === "Grant" ? undefined : toText(payload.grantId);
      const owner = ownerOf(kind, payload);
      const former = kind === "RefreshToken" ? findReplacedToken() : undefined;
      const value = former === undefined ? payload : { ...payload, former };
      await records.write({ kind, id, value, expiresAt: now() + ms, grantId, owner });
      if (kind === "Grant") await extendClient(toText(payload.clientId) ?? "");
    },
    async find(id) {
      const record = await records.find(kind, id);
      if (record === undefined) return undefined;
      const { value, consumedAt } = record;
      if (consumedAt === null || (await repeats.mayRepeat(kind, id, record))) return value;
      return { ...value, consumed: Math.floor(consumedAt / SECOND) };
    },
    async consume(id) {
      const isFirst = await records.consume(kind, id);
      if (isFirst && kind !== "RefreshToken") return;
      const record = await records.find(kind, id);
      if (isFirst) return record && repeats.endFormer(record);
      if (record !== undefined && (await repeats.mayRepeat(kind, id, record))) return;
      // The code or refresh token was used twice, so one of the users stole it (RFC 9700, section 4.14).
      const grantId = toText(record?.value["grantId"]);
      if (grantId !== undefined) await revokeGrant(context, grantId);
      throw new errors.InvalidGrant("already used");
    },
    async destroy(id) {
      if (kind === "Grant") await revokeGrant(context, id);
      else await records.remove(kind, id);
    },
    revokeByGrantId: (grantId) => records.removeByGrant(kind, grantId),
  };
};

/** Finds clients that administrators created in the directory, and others in the records. */
const withDirectory = (context: OauthContext, adapter: Adapter): Adapter => {
  const { directory } = context;
  if (directory === undefined) return adapter;
  return {
    ...adapter,
    async find(id) {
      if (!isDirectoryId(id)) return adapter.find(id);
      const client = await directory.findClient(id);
      return client && toClientMetadata(client, listDirectoryGrants(context));
    },
  };
};

/** Creates the provider's storage, one adapter per kind of record. A client with a grant is stored for `clientMs`. */
export const createAdapter =
  (context: OauthContext, clientMs: number) =>
  (kind: string): Adapter => {
    if (kind === "Interaction") return createInteractionAdapter(context.interactions);
    // Each authorization asks the person to sign in, so the provider's own sessions are not stored.
    if (kind === "Session") return EMPTY_ADAPTER;
    const adapter = createRecordAdapter(context, kind, clientMs);
    return kind === "Client" ? withDirectory(context, adapter) : adapter;
  };
