import type { Credentials } from "../broker/credentials.ts";
import type { Log } from "../kit/log.ts";
import type { Config } from "./config.ts";
import { ensureDemo } from "./demo.ts";
import { folderOf } from "./folder.ts";
import { openPlatform, type OpenPlatform } from "./platform.ts";

/** The platform in this process, with the demo tenant and its credentials. */
export type Embedded = {
  fetch: (request: Request) => Promise<Response>;
  credentials: Credentials;
  /** For an HTTP server in front of it. */
  platform: OpenPlatform;
  close(): Promise<void>;
};

export const openEmbedded = async (
  config: Config,
  log: Log,
  ownUrl?: () => Promise<string>,
): Promise<Embedded> => {
  const platform = await openPlatform(config, log, ownUrl);
  try {
    const credentials = await ensureDemo({ ...platform, path: folderOf(config.dataFolder).demo });
    return {
      fetch: async (request) => platform.fetch(request),
      credentials,
      platform,
      close: () => platform.close(),
    };
  } catch (error) {
    await platform.close();
    throw error;
  }
};
