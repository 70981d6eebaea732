import { type Adapter, type AdapterPayload, errors } from "oidc-provider";
import { DAY, SECOND } from "../kit/clock.ts";
import { getClientAddress } from "../kit/client-address.ts";
import { toClientNetwork } from "../kit/network.ts";
import type { OauthContext } from "./context.ts";
import { revokeGrant } from "./grants.ts";
import type { Interactions } from "./interactions.ts";

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

const createRecordAdapter = (context: OauthContext, kind: string, clientMs: number): Adapter => {
  const { records, now } = context;
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
      await records.write({ kind, id, value: payload, expiresAt: now() + ms, grantId, owner });
      if (kind === "Grant") await extendClient(toText(payload.clientId) ?? "");
    },
    async find(id) {
      const record = await records.find(kind, id);
      if (record === undefined) return undefined;
      const { value, consumedAt } = record;
      return consumedAt === null ? value : { ...value, consumed: Math.floor(consumedAt / SECOND) };
    },
    async consume(id) {
      if (await records.consume(kind, id)) return;
      // The code or refresh token was used twice, so one of the users stole it (RFC 9700, section 4.14).
      const grantId = toText((await records.find(kind, id))?.value["grantId"]);
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

/** Creates the provider's storage, one adapter per kind of record. A client with a grant is stored for `clientMs`. */
export const createAdapter =
  (context: OauthContext, clientMs: number) =>
  (kind: string): Adapter => {
    if (kind === "Interaction") return createInteractionAdapter(context.interactions);
    // Each authorization asks the person to sign in, so the provider's own sessions are not stored.
    return kind === "Session" ? EMPTY_ADAPTER : createRecordAdapter(context, kind, clientMs);
  };
