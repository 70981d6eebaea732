import { z } from "zod";
import type { StoredSecret } from "../../broker/port.ts";
import { type Clock, MINUTE } from "../../kit/clock.ts";
import { randomToken } from "../../kit/ids.ts";
import { createSeal } from "../../kit/seal.ts";

/** A stored secret by its name in the person's store. */
export type StoredName = Pick<StoredSecret, "name" | "kind">;

/** What a page shows: a stored secret, or a form on which its owner makes an API key. */
export type OnPage = StoredName | { name: ""; kind: "own-key" };

export const OWN_KEY: OnPage = { name: "", kind: "own-key" };

/**
 * How people show on a page that it is theirs: by their password, or by the token that their host bears. Where the
 * address alone stands for them, it goes past the model, or to nobody.
 */
export type Proof = "password" | "token" | "address";

export type SecretPage = OnPage & {
  /** Of this page, to be used once. */
  id: string;
  /** The id of the caller that the secret was made for. */
  caller: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
};

/** Addresses of pages on which a person takes a secret. All about a page is sealed in its address, so that any process can show it. */
export type SecretPages = {
  make(shown: OnPage, caller: string): { url: string; expiresAt: number };
  /** The page at an address's last part; undefined if it is none that was made here, or is too old. */
  open(part: string): SecretPage | undefined;
  proof: Proof;
};

const LIFE_MS = 10 * MINUTE;

export const SECRETS_PATH = "/secrets/";

const Sealed = z.tuple([
  z.string(),
  z.union([
    z.object({ name: z.string(), kind: z.enum(["api-key", "webhook-secret"]) }),
    z.object({ name: z.literal(""), kind: z.literal("own-key") }),
  ]),
  z.string(),
  z.number(),
]);

export const createSecretPages = ({
  key,
  base,
  now,
  proof,
}: {
  key: Buffer;
  /** Where people reach this server, without a slash at the end. */
  base: string;
  now: Clock;
  proof: Proof;
}): SecretPages => {
  const seal = createSeal(key, "mcp/secret-page");
  return {
    proof,
    make({ name, kind }, caller) {
      const expiresAt = now() + LIFE_MS;
      const part = seal.seal([randomToken(), { name, kind }, caller, expiresAt]);
      return { url: base + SECRETS_PATH + part, expiresAt };
    },
    open(part) {
      const { data } = Sealed.safeParse(seal.open(part));
      if (data === undefined) return undefined;
      const [id, shown, caller, expiresAt] = data;
      return expiresAt < now() ? undefined : { id, ...shown, caller, expiresAt };
    },
  };
};
