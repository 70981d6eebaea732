import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { SECOND, systemClock } from "../../kit/clock.ts";
import type { Secret } from "../../kit/secret.ts";

type IntrospectionNeeds = {
  url: string;
  client: { id: string; secret: Secret };
  issuer: string;
  /** Whom tokens must be for. */
  audience: string;
  timeoutMs: number;
  fetch: typeof globalThis.fetch;
};

const Answer = z.object({
  active: z.boolean(),
  sub: z.string().optional(),
  scope: z.string().optional(),
  iss: z.string().optional(),
  aud: z.union([z.string(), z.array(z.string())]).optional(),
  client_id: z.string().optional(),
  exp: z.number().optional(),
  nbf: z.number().optional(),
});
type Introspected = z.infer<typeof Answer>;

/** How long a token that was ended may still be taken for good, at most. */
const KEPT_MS = 15 * SECOND;
const MOST_KEPT = 1000;

const formEncoded = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);

const basic = ({ id, secret }: IntrospectionNeeds["client"]): string => {
  const pair = `${formEncoded(id)}:${formEncoded(secret.reveal())}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
};

/**
 * Asks the issuer about a token (RFC 7662). Returns undefined for a token that is not valid here, and, if `isLimited`,
 * for one without a recent answer: such a token is not asked about.
 */
export const createIntrospection = (
  needs: IntrospectionNeeds,
): ((token: string, isLimited?: boolean) => Promise<Introspected | undefined>) => {
  const { url, client, issuer, audience, timeoutMs, fetch } = needs;

  const isGood = ({ active, iss, aud, exp = Infinity, nbf = 0 }: Introspected): boolean => {
    const now = systemClock() / SECOND;
    const ours = (iss ?? issuer) === issuer && [aud].flat().includes(audience);
    return active && ours && nbf <= now && now < exp;
  };

  const ask = async (token: string): Promise<Introspected> => {
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization: basic(client), accept: "application/json" },
      body: new URLSearchParams({ token, token_type_hint: "access_token" }),
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok)
      throw new Error(`the issuer answers ${response.status} when asked of a token`);
    return Answer.parse(await response.json());
  };

  const asked = new LRUCache<string, Promise<Introspected>>({ max: MOST_KEPT, ttl: KEPT_MS });

  return async (token, isLimited = false) => {
    const name = createHash("sha256").update(token).digest("base64url");
    const recent = asked.get(name);
    if (recent === undefined && isLimited) return undefined;
    const known = recent ?? ask(token);
    asked.set(name, known, { noUpdateTTL: true });
    try {
      const answer = await known;
      return isGood(answer) ? answer : undefined;
    } catch (error) {
      asked.delete(name);
      throw error;
    }
  };
};
