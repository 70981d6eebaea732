import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { SECOND, systemClock } from "../../kit/clock.ts";
import type { Secret } from "../../kit/secret.ts";

type IntrospectionNeeds = {
  url: string;
  client: { id: string; secret: Secret };
  issuer: string;
  /** The audience (`aud`) that tokens must have. */
  audience: string;
  timeoutMs: number;
  fetch: typeof globalThis.fetch;
};

// Further claims can name the person.
const Introspection = z.looseObject({
  active: z.boolean(),
  sub: z.string().optional(),
  scope: z.string().optional(),
  iss: z.string().optional(),
  aud: z.union([z.string(), z.array(z.string())]).optional(),
  client_id: z.string().optional(),
  exp: z.number().optional(),
  nbf: z.number().optional(),
});
type Introspection = z.infer<typeof Introspection>;

/** Time for which a revoked token may still be accepted, in milliseconds. */
const CACHE_MS = 15 * SECOND;
const MAX_CACHED = 1000;

const encodeForm = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);

const basicAuthorization = ({ id, secret }: IntrospectionNeeds["client"]): string => {
  const pair = `${encodeForm(id)}:${encodeForm(secret.reveal())}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
};

/**
 * Creates a function that introspects a token (RFC 7662). It returns undefined for a token that is not valid here, and,
 * if `isLimited`, for one without a cached result, which is not introspected.
 */
export const createIntrospection = (
  needs: IntrospectionNeeds,
): ((token: string, isLimited?: boolean) => Promise<Introspection | undefined>) => {
  const { url, client, issuer, audience, timeoutMs, fetch } = needs;

  const isValid = ({ active, iss, aud, exp = Infinity, nbf = 0 }: Introspection): boolean => {
    const now = systemClock() / SECOND;
    const isForThisServer = (iss ?? issuer) === issuer && [aud].flat().includes(audience);
    return active && isForThisServer && nbf <= now && now < exp;
  };

  const introspect = async (token: string): Promise<Introspection> => {
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization: basicAuthorization(client), accept: "application/json" },
      body: new URLSearchParams({ token, token_type_hint: "access_token" }),
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok)
      throw new Error(`the issuer answered ${response.status} to an introspection request`);
    return Introspection.parse(await response.json());
  };

  const cache = new LRUCache<string, Promise<Introspection>>({ max: MAX_CACHED, ttl: CACHE_MS });

  return async (token, isLimited = false) => {
    const name = hash("sha256", token, "base64url");
    const cached = cache.get(name);
    if (cached === undefined && isLimited) return undefined;
    const pending = cached ?? introspect(token);
    cache.set(name, pending, { noUpdateTTL: true });
    try {
      const result = await pending;
      return isValid(result) ? result : undefined;
    } catch (error) {
      cache.delete(name);
      throw error;
    }
  };
};
