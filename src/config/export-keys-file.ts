import { readFileSync } from "node:fs";
import { z } from "zod";
import { getMessage } from "../kit/error.ts";
import type { Log } from "../kit/log.ts";
import { Secret } from "../kit/secret.ts";
import { trimEndOf } from "../kit/text.ts";
import { followFile, parsePrivate, readSetFile } from "./private-file.ts";

/** A tenant's key for the export and ingest services, and the platform roles whose people may use it. */
export type TenantKey = { apiKey: Secret; roles: readonly string[] };
export type TenantKeys = ReadonlyMap<string, TenantKey>;

const Text = z.string().min(1);

const Entry = z
  .strictObject({
    apiKey: Text.optional(),
    apiKeyFile: Text.optional(),
    roles: z.array(Text).min(1),
  })
  .refine(({ apiKey, apiKeyFile }) => (apiKey === undefined) !== (apiKeyFile === undefined), {
    error: "must have either apiKey or apiKeyFile",
  });

const File = z.record(Text, Entry);

/** Reads the file. @throws {Problem} with every fault, without any value of the file */
export const readExportKeys = (path: string): TenantKeys =>
  readSetFile("RECEIVABLES_EXT_API_KEYS_FILE", path, (written) => {
    const tenants = Object.entries(parsePrivate(File, written));
    const entries = tenants.map(([tenantId, { apiKey, apiKeyFile = "", roles }]) => {
      const text = apiKey ?? trimEndOf(readFileSync(apiKeyFile, "utf8"), "\r\n");
      return [tenantId, { apiKey: new Secret(text), roles }] as const;
    });
    return new Map(entries);
  });

/**
 * Returns a function that reads the current keys. A fault at the start is thrown; later ones are logged, and there are
 * no keys until the file is corrected.
 */
export const openExportKeys = async (
  path: string | undefined,
  log: Log,
): Promise<() => Promise<TenantKeys>> => {
  if (path === undefined) return async () => new Map();
  const readAgain = (): TenantKeys => {
    try {
      const keys = readExportKeys(path);
      log.info("export_keys.read", { path, tenants: keys.size });
      return keys;
    } catch (error) {
      log.error("export_keys.faults", { path, fault: getMessage(error) });
      return new Map();
    }
  };
  return followFile(path, () => readExportKeys(path), readAgain);
};
