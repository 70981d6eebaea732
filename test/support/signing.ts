import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createMasterKeyReader } from "../../src/config/folder.ts";
import type { SigningNeeds } from "../../src/platform/store/audit-key.ts";

/** Signs with the master key of a data folder, as programs that are started on it do. */
export const signingIn = (dataFolder: string): SigningNeeds => {
  const key = createMasterKeyReader({ dataFolder, secretKey: undefined });
  return { masterKey: () => key(), clock: systemClock, newId: randomId };
};
