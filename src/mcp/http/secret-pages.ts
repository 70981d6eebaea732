import { z } from "zod";
import type { StoredSecret } from "../../broker/port.ts";
import { type Clock, MINUTE } from "../../kit/clock.ts";
import { randomToken } from "../../kit/ids.ts";
import { createSeal } from "../../kit/seal.ts";

/** A secret that is kept for somebody, by its name in their store. */
export type Kept = Pick<StoredSecret, "name" | "kind">;

/**
 * How the page's address reaches the person. Through the host it passes no model, so that whoever has it is the one it
 * was made for; through an answer it does, and so the page asks who they are.
 */
export type Way = "host" | "answer";

export type SecretPage = Kept & {
  /** Of this page, to be used once. */
  id: string;
  /** The id of the caller that the secret was made for. */
  caller: string;
  way: Way;
  /** Milliseconds since the epoch. */
  expiresAt: number;
};

/** Addresses of pages on which a person takes a secret. All about a page is sealed in its address, so that any process can show it. */
export type SecretPages = {
  make(kept: Kept, to: { caller: string; way: Way }): { url: string; expiresAt: number };
  /** The page at an address's last part; undefined if it is none that was made here, or is too old. */
  open(part: string): SecretPage | undefined;
  /** Whether people can show on a page who they are. */
  canProve: boolean;
};

const LIFE_MS = 10 * MINUTE;

export const SECRETS_PATH = "/secrets/";

const Sealed = z.tuple([
  z.string(),
  z.string(),
  z.enum(["api-key", "webhook-secret"]),
  z.string(),
  z.enum(["host", "answer"]),
  z.number(),
]);

export const createSecretPages = ({
  key,
  base,
  now,
  canProve,
}: {
  key: Buffer;
  /** Where people reach this server, without a slash at the end. */
  base: string;
  now: Clock;
  canProve: boolean;
}): SecretPages => {
  const seal = createSeal(key, "mcp/secret-page");
  return {
    canProve,
    make({ name, kind }, { caller, way }) {
      const expiresAt = now() + LIFE_MS;
      const part = seal.seal([randomToken(), name, kind, caller, way, expiresAt]);
      return { url: base + SECRETS_PATH + part, expiresAt };
    },
    open(part) {
      const { data } = Sealed.safeParse(seal.open(part));
      if (data === undefined) return undefined;
      const [id, name, kind, caller, way, expiresAt] = data;
      return expiresAt < now() ? undefined : { id, name, kind, caller, way, expiresAt };
    },
  };
};
