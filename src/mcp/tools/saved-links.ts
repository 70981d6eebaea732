import { z } from "zod";
import type { Clock } from "../../kit/clock.ts";
import { createSeal } from "../../kit/seal.ts";
import type { SavedName } from "../results/saved-files.ts";

/**
 * Addresses at which a browser downloads a saved table. The address is the proof, and names the profile whose platform
 * has the table.
 */
export type SavedLinks = {
  urlOf(file: SavedName, expiresAt: number): string;
  /** Returns the table at an address's last part; undefined if it is not one of this server's, or has expired. */
  open(part: string): (SavedName & { place: string }) | undefined;
};

export const SAVED_PATH = "/saved/";

const Sealed = z.tuple([z.string(), z.string(), z.string(), z.string(), z.number()]);

type Needs = {
  key: Buffer;
  /** The public address of this server, without a slash at the end. */
  base: string;
  now: Clock;
  /** Names the place where the caller's tables lie. */
  place: string;
};

export const createSavedLinks = ({ key, base, now, place }: Needs): SavedLinks => {
  const seal = createSeal(key, "mcp/saved-link");
  return {
    urlOf: ({ tenantId, owner, name }, expiresAt) =>
      base + SAVED_PATH + seal.seal([place, tenantId, owner, name, expiresAt]),
    open(part) {
      const { data } = Sealed.safeParse(seal.open(part));
      if (data === undefined) return undefined;
      const [at, tenantId, owner, name, expiresAt] = data;
      return expiresAt < now() ? undefined : { place: at, tenantId, owner, name };
    },
  };
};
