import { z } from "zod";
import { getMessage } from "../kit/error.ts";
import type { Log } from "../kit/log.ts";
import { followFile, parsePrivate, readSetFile } from "./private-file.ts";
import { isPlainUrl } from "./setting-kinds.ts";

const Text = z.string().min(1).max(512);

const Provider = z.strictObject({
  issuer: Text.refine((url) => isPlainUrl(url) && url.startsWith("https:"), "must be an https URL"),
  audience: Text.optional(),
  claim: Text.default("email"),
  clients: z.array(Text).min(1),
  emailVerified: z.enum(["claim", "always"]).default("claim"),
});

const File = z
  .array(Provider)
  .min(1)
  .refine((all) => new Set(all.map(({ issuer }) => issuer)).size === all.length, {
    error: "must name each issuer once",
  });

/** Identity providers of the company, by the file that names them. */
export type IdentityProviderSettings = z.output<typeof Provider>;

/** Reads the file. @throws {Problem} with every fault */
export const readIdentityProviders = (path: string): IdentityProviderSettings[] =>
  readSetFile("RECEIVABLES_OAUTH_IDENTITY_PROVIDERS_FILE", path, (text) =>
    parsePrivate(File, text),
  );

/**
 * Returns a function that reads the current identity providers. A fault at the start is thrown; later ones are logged,
 * and no assertion is accepted until the file is corrected.
 */
export const openIdentityProviders = async (
  path: string,
  log: Log,
): Promise<() => Promise<readonly IdentityProviderSettings[]>> => {
  const readAgain = (): IdentityProviderSettings[] => {
    try {
      const providers = readIdentityProviders(path);
      log.info("identity_providers.read", { path, providers: providers.length });
      return providers;
    } catch (error) {
      log.error("identity_providers.faults", { path, fault: getMessage(error) });
      return [];
    }
  };
  return followFile(path, () => readIdentityProviders(path), readAgain);
};
