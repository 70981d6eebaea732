import { createHmac, timingSafeEqual } from "node:crypto";
import { SECOND } from "../../kit/clock.ts";
import { keysFor, type MasterKey } from "../../kit/seal.ts";

/** The access that a signed URL grants: one method on one file of one tenant. */
export type Grant = { method: "PUT" | "GET"; tenantId: string; id: string };

/** Paths of signed URLs. They need no credential beside the signature. */
export const PLACES: Record<Grant["method"], string> = { PUT: "/uploads", GET: "/downloads" };

/** The query parameters of a signed URL. */
export type Claim = { expires: string; sig: string };

export type SignedUrls = {
  /** Returns a URL below `base` that is valid until a time, in whole seconds. */
  urlOf(base: string, grant: Grant, expiresAt: number): string;
  /** Whether the signature covers this grant and has not expired. */
  holds(grant: Grant, claim: Claim, now: number): boolean;
};

const SECONDS = /^\d{1,12}$/;

/** Creates and verifies signed URLs with a derived key. */
export const createSignedUrls = (masterKey: MasterKey): SignedUrls => {
  const keys = keysFor(masterKey, "signed-url");
  const sign = ({ method, tenantId, id }: Grant, expires: string, key = keys[0]): string =>
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
      const given = Buffer.from(sig);
      return keys.some((key) => {
        const expected = Buffer.from(sign(grant, expires, key));
        return given.length === expected.length && timingSafeEqual(given, expected);
      });
    },
  };
};
