import type { RequestListener } from "node:http";
import { createLazy } from "../../kit/lazily.ts";
import { PAGE_CLIENT } from "../../oauth/page-client.ts";
import type { Config } from "../../config/config.ts";
import { listConnectHints } from "./connect.ts";
import type { Entrance } from "./entrance.ts";
import { readBrand } from "./operator.ts";
import { failedPage } from "../../server/failures.ts";
import { createMcpListener } from "../../server/serve.ts";

type SiteOptions = {
  config: Config;
  entrance: Entrance;
  version: string;
  mcpUrl: string;
  /** Host names under which the server can be called. */
  hosts: readonly string[];
  /** Whether the REST platform is served here too. */
  hasDocs: boolean;
};

/** Creates the listener of the page at `/`; its code is loaded at the first request. */
export const createSiteListener = (options: SiteOptions): RequestListener => {
  const { config, entrance, mcpUrl } = options;
  const open = createLazy(async () => {
    const [{ createSiteHandler }, { activeTools }] = await Promise.all([
      import("../../mcp/http/site-handler.ts"),
      import("../../mcp/tools/listing/active-tools.ts"),
    ]);
    return createSiteHandler({
      ...options,
      auth: entrance.auth,
      brand: readBrand(config),
      hints: listConnectHints(mcpUrl, entrance),
      tools: activeTools(config.mcp),
      clientId: PAGE_CLIENT,
    });
  });
  return createMcpListener({ fetch: async (request) => (await open())(request) }, failedPage);
};
