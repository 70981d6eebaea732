import type { Credentials } from "../../config/settings.ts";
import type { Log } from "../../kit/log.ts";
import { DEMO_TENANT, type LoadStep } from "../../platform/demo/load.ts";
import type { Config } from "../../config/config.ts";
import { ensureDemo } from "../../platform/demo/credentials.ts";
import { getDataPaths } from "../../config/folder.ts";
import { openPlatform, type OpenPlatform } from "./platform.ts";

/** The platform in this process. */
export type Embedded = {
  fetch: (request: Request) => Promise<Response>;
  /** Of the demo tenant; undefined if it does not exist. */
  credentials: Credentials | undefined;
  /** For an HTTP server in front of it. */
  platform: OpenPlatform;
  close(): Promise<void>;
};

/** Whether the demo tenant may be created: the store is embedded, and no other tenant or credential is configured. */
export const mayCreateDemo = ({
  databaseUrl,
  tenantId: configured,
  credentials,
}: Config): boolean =>
  databaseUrl === undefined &&
  (configured ?? DEMO_TENANT.tenantId) === DEMO_TENANT.tenantId &&
  [credentials.apiKey, credentials.extApiKey, credentials.email].every((one) => one === undefined);

export const openEmbedded = async (
  config: Config,
  log: Log,
  ownUrl?: () => Promise<string>,
  progress?: (step: LoadStep) => void,
): Promise<Embedded> => {
  const platform = await openPlatform(config, log, ownUrl);
  try {
    const { demo: path } = getDataPaths(config.dataFolder);
    const needs = { ...platform, path, ...(progress === undefined ? {} : { progress }) };
    const credentials = await ensureDemo(needs, mayCreateDemo(config));
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
