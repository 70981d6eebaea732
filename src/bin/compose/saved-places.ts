import { systemClock } from "../../kit/clock.ts";
import type { SavedFiles } from "../../mcp/results/saved-files.ts";
import type { Storage } from "../../records/port.ts";
import { createSavedRecords } from "../../records/saved-files.ts";
import type { Config } from "../../config/config.ts";
import type { Embedded } from "./embedded.ts";

/** Saved tables lie in the embedded platform's file store, or in the server's own records where the platform is remote. */
export type SavedPlaces = Record<"platform" | "records", SavedFiles>;

/** Names the place of the tables that callers of a platform save. */
export const placeOf = ({ remote }: Pick<Config, "remote">): keyof SavedPlaces =>
  remote === undefined ? "platform" : "records";

type Needs = {
  embedded: () => Promise<Embedded>;
  masterKey: () => Promise<Buffer>;
  oauthStorage: () => Promise<Storage>;
};

/** Opens nothing before the first table is saved or read. */
export const createSavedPlaces = (
  { embedded, masterKey, oauthStorage }: Needs,
  { tenantFileBytes }: Pick<Config, "tenantFileBytes">,
): SavedPlaces => ({
  platform: {
    put: async (file, bytes) => (await embedded()).platform.savedFiles.put(file, bytes),
    open: async (file) => (await embedded()).platform.savedFiles.open(file),
  },
  records: createSavedRecords(
    { storage: oauthStorage, key: masterKey, now: systemClock },
    tenantFileBytes,
  ),
});
