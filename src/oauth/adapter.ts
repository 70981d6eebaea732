import { type Adapter, type AdapterPayload, errors } from "oidc-provider";
import { type Clock, DAY, SECOND } from "../kit/clock.ts";
import { clientAddress } from "../kit/client-address.ts";
import { clientNetworkOf } from "../kit/network.ts";
import type { Grants } from "./grants.ts";
import type { Interactions } from "./interactions.ts";
import type { Records } from "./records.ts";

/** How long a client that registered itself is remembered before anybody lets it in. */
const UNUSED_CLIENT_MS = DAY;

const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/** A grant belongs to its person; a client that no person has let in, to the network that registered it. */
const ownerOf = (kind: string, payload: AdapterPayload): string | undefined => {
  if (kind === "Grant") return text(payload.accountId);
  const address = kind === "Client" ? clientAddress() : undefined;
  return address === undefined ? undefined : (clientNetworkOf(address) ?? address);
};

export type AdapterNeeds = {
  records: Records;
  interactions: Interactions;
  grants: Grants;
  now: Clock;
  /** How long a client is remembered after it was let in. */
  clientMs: number;
};

/** Kinds of records of browsers that may have no person yet. They are never stored. */
const createUnstored = (interactions: Interactions, kind: "Interaction" | "Session"): Adapter => ({
  // Each authorization asks the person to sign in, so the provider's own session has no use.
  async upsert(id, payload) {
    if (kind === "Interaction") interactions.write(id, payload);
  },
  find: async (id) => (kind === "Interaction" ? interactions.find(id) : undefined),
  consume: async () => {},
  async destroy(id) {
    interactions.remove(id);
  },
  revokeByGrantId: async () => {},
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
});

/** Where the provider keeps its things. Codes and refresh tokens are good once, whatever process is asked. */
export const createAdapter =
  ({ records, interactions, grants, now, clientMs }: AdapterNeeds) =>
  (kind: string): Adapter => {
    if (kind === "Interaction" || kind === "Session") return createUnstored(interactions, kind);
    const keepClient = async (clientId: string): Promise<void> => {
      const client = await records.find("Client", clientId);
      if (client === undefined) return;
      const { value } = client;
      await records.write({ kind: "Client", id: clientId, value, expiresAt: now() + clientMs });
    };
    return {
      async upsert(id, payload, expiresIn) {
        const ms = expiresIn === undefined ? UNUSED_CLIENT_MS : expiresIn * SECOND;
        const grantId = kind === "Grant" ? undefined : text(payload.grantId);
        const owner = ownerOf(kind, payload);
        await records.write({ kind, id, value: payload, expiresAt: now() + ms, grantId, owner });
        if (kind === "Grant") await keepClient(text(payload.clientId) ?? "");
      },
      async find(id) {
        const found = await records.find(kind, id);
        if (found === undefined) return undefined;
        const { value, consumedAt } = found;
        return consumedAt === null
          ? value
          : { ...value, consumed: Math.floor(consumedAt / SECOND) };
      },
      async consume(id) {
        if (await records.consume(kind, id)) return;
        // Two came with the same code or refresh token: nobody knows which of them is the thief.
        const grantId = text((await records.find(kind, id))?.value["grantId"]);
        if (grantId !== undefined) await grants.end(grantId);
        throw new errors.InvalidGrant("already used");
      },
      async destroy(id) {
        if (kind === "Grant") await grants.end(id);
        else await records.remove(kind, id);
      },
      revokeByGrantId: (grantId) => records.removeByGrant(kind, grantId),
      findByUid: async () => undefined,
      findByUserCode: async () => undefined,
    };
  };
