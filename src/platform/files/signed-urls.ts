import { createHmac, timingSafeEqual } from "node:crypto";
import { SECOND } from "../../kit/clock.ts";
import { keyFor } from "../../kit/seal.ts";

/** What a signed URL lets its bearer do, to one file of one tenant. */
export type Grant = { method: "PUT" | "GET"; tenantId: string; id: string };

/** Where files go and come from, for whoever holds the URL; without any further credential. */
export const PLACES: Record<Grant["method"], string> = { PUT: "/uploads", GET: "/downloads" };

/** What a signed URL says of itself, beside its path. */
export type Claim = { expires: string; sig: string };

export type SignedUrls = {
  /** A URL beneath `base` that holds until a moment, whole seconds counted. */
  urlOf(base: string, grant: Grant, expiresAt: number): string;
  /** Whether the claim was signed for this and nothing else, and has not run out. */
  holds(grant: Grant, claim: Claim, now: number): boolean;
};

const SECONDS = /^\d{1,12}$/;

/** Signs URLs under a key of their own. */
export const createSignedUrls = (masterKey: Buffer): SignedUrls => {
  const key = keyFor(masterKey, "signed-url");
  const sign = ({ method, tenantId, id }: Grant, expires: string): string =>
    createHmac("sha256", key)
      .update(JSON.stringify([method, tenantId, id, expires]))
      .digest("base64url");
  return {
    urlOf(base, grant, expiresAt) {
      const expires = String(Math.floor(expiresAt / SECOND));
      return `${base}${PLACES[grant.method]}/${grant.id}?expires=${expires}&sig=${sign(grant, expires)}`;
    },
    holds(grant, { expires, sig }, now) {
      if (!SECONDS.test(expires) || Number(expires) * SECOND <= now) return false;
      const wanted = Buffer.from(sign(grant, expires));
      const given = Buffer.from(sig);
      return given.length === wanted.length && timingSafeEqual(given, wanted);
    },
  };
};
