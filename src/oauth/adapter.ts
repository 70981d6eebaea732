import { type Adapter, type AdapterPayload, errors } from "oidc-provider";
import { type Clock, DAY, SECOND } from "../kit/clock.ts";
import type { Grants } from "./grants.ts";
import type { Records } from "./records.ts";

/** How long a client that registered itself is remembered before anybody lets it in. */
const UNUSED_CLIENT_MS = DAY;

const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

export type AdapterNeeds = {
  records: Records;
  grants: Grants;
  now: Clock;
  /** How long a client is remembered after it was let in. */
  clientMs: number;
};

// Each authorization asks the person anew, so a browser's session with the provider is nobody's.
const nobodys = ({ accountId: _who, authorizations: _what, ...rest }: AdapterPayload) => rest;

/** Where the provider keeps its things. Codes and refresh tokens are good once, whatever process is asked. */
export const createAdapter =
  ({ records, grants, now, clientMs }: AdapterNeeds) =>
  (kind: string): Adapter => {
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
        const owner = kind === "Grant" ? text(payload.accountId) : undefined;
        const value = kind === "Session" ? nobodys(payload) : payload;
        await records.write({ kind, id, value, expiresAt: now() + ms, grantId, owner });
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
