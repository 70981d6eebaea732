import { z } from "zod";
import type { StoredSecret } from "../../broker/port.ts";
import { type Clock, MINUTE } from "../../kit/clock.ts";
import { randomToken } from "../../kit/ids.ts";
import { createSeal } from "../../kit/seal.ts";

/** A stored secret by its name in the vault. */
export type StoredName = Pick<StoredSecret, "name" | "kind">;

/** The content of a page: a stored secret, or a form on which a person creates an API key of their own. */
export type PageContent = StoredName | { name: ""; kind: "own-key" };

export const OWN_KEY: PageContent = { name: "", kind: "own-key" };

export type SecretPage = PageContent & {
  /** 256 random bits. The page works once. */
  id: string;
  /** The id of the caller that asked for the secret. */
  caller: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
};

/**
 * One-time addresses of pages that show a secret to a person. The address is the proof: only a host that opens pages
 * receives it, and no model does. It seals all facts about the page, so that any process can answer it.
 */
export type SecretPages = {
  createLink(content: PageContent, caller: string): { url: string; expiresAt: number };
  /** Returns the page at an address's last part; undefined if it is not one of this server's, or has expired. */
  open(part: string): SecretPage | undefined;
  /** Whether people create API keys themselves, by signing in on the page. */
  signsIn: boolean;
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
  signsIn,
}: {
  key: Buffer;
  /** The public address of this server, without a slash at the end. */
  base: string;
  now: Clock;
  signsIn: boolean;
}): SecretPages => {
  const seal = createSeal(key, "mcp/secret-page");
  return {
    signsIn,
    createLink({ name, kind }, caller) {
      const expiresAt = now() + LIFE_MS;
      const part = seal.seal([randomToken(), { name, kind }, caller, expiresAt]);
      return { url: base + SECRETS_PATH + part, expiresAt };
    },
    open(part) {
      const { data } = Sealed.safeParse(seal.open(part));
      if (data === undefined) return undefined;
      const [id, content, caller, expiresAt] = data;
      return expiresAt < now() ? undefined : { id, ...content, caller, expiresAt };
    },
  };
};
