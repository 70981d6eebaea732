import type { IncomingMessage, RequestListener } from "node:http";
import { isIP } from "node:net";
import { Problem } from "../../contract/errors.ts";
import { lazily } from "../../kit/lazily.ts";
import { createLog } from "../../kit/log.ts";
import { type Caller, openGate, ownCaller } from "../../mcp/gate.ts";
import { createHttp, type HttpOptions, type HttpServer } from "../../mcp/http.ts";
import { compose } from "../compose.ts";
import type { Config } from "../config.ts";
import { connectHints } from "../connect.ts";
import { openEmbedded } from "../embedded.ts";
import { untilEnded } from "../ended.ts";
import type { Io } from "../io.ts";
import { mcpNeeds } from "../mcp.ts";
import type { OpenPlatform } from "../platform.ts";
import { type Address, mcpListener, platformListener, serve } from "../serve.ts";

const MCP_PATH = "/mcp";

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

// Whoever reaches the port acts with the server's credentials, so they must be nobody's.
const checkOpenDoor = ({ remote, tenantId, credentials }: Config, { host }: Address): void => {
  const demoAlone =
    remote === undefined &&
    (tenantId ?? "demo") === "demo" &&
    credentials.apiKey === undefined &&
    credentials.email === undefined;
  if (demoAlone && isLoopback(host)) return;
  throw new Problem(
    "forbidden_tenant",
    "Over HTTP there is no sign-in yet, so only the demo tenant of the embedded platform is served, and only on loopback. For another tenant or a remote platform use stdio.",
  );
};

const isMcp = ({ url }: IncomingMessage): boolean => /^\/mcp\/?(\?|$)/.test(url ?? "");

const acceptedBy = ({
  http: { hosts, origins },
}: Config): Pick<HttpOptions, "hosts" | "origins"> => ({
  ...(hosts === undefined ? {} : { hosts }),
  ...(origins === undefined ? {} : { origins }),
});

const listenerOf = (mcp: HttpServer, platform: OpenPlatform): RequestListener => {
  const onMcp = mcpListener(mcp);
  const onPlatform = platformListener(platform);
  return (request, response) =>
    isMcp(request) ? onMcp(request, response) : onPlatform(request, response);
};

/** Platform and MCP server in one process on one port. */
export const http = async (io: Io, address: Address): Promise<void> => {
  const { config } = io;
  checkOpenDoor(config, address);
  const log = createLog(config.level);
  const { promise: ownUrl, resolve: servedAt } = Promise.withResolvers<string>();
  const embedded = lazily(() => openEmbedded(config, log, () => ownUrl));
  const { platform } = await embedded();
  const composed = await compose(config, log, embedded);
  const front = {
    settings: config.mcp,
    version: io.version,
    log,
    open: async (caller: Caller) => mcpNeeds(config, composed, { log, door: "http", caller }),
  };
  const mcp = createHttp(front, {
    ...acceptedBy(config),
    gate: openGate(ownCaller(config.profile)),
  });
  try {
    const served = await serve(listenerOf(mcp, platform), address);
    servedAt(served.url);
    const mcpUrl = served.url + MCP_PATH;
    io.print({ event: "ready", baseUrl: served.url, extBaseUrl: served.url, mcpUrl });
    io.tell(connectHints(mcpUrl, io.program, config.dataFolder));
    await untilEnded(io.ended);
    const closed = served.close();
    await mcp.close();
    await closed;
  } finally {
    await composed.close();
  }
};
