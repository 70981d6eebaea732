import type { IncomingMessage, RequestListener } from "node:http";
import { isIPv6 } from "node:net";
import { localhostAllowedHostnames } from "@modelcontextprotocol/server";
import { withClientAddress } from "../../kit/client-address.ts";
import { systemClock } from "../../kit/clock.ts";
import { createOriginCheck } from "../../kit/cors.ts";
import type { Log } from "../../kit/log.ts";
import { createReport, type ReportRequest } from "../../kit/telemetry.ts";
import type { Caller } from "../../mcp/caller.ts";
import { isSitePath } from "../../mcp/results/record-pages.ts";
import { CARD_PATH, CATALOG_PATH, createCardHandler } from "../../mcp/http/server-card.ts";
import { refuseUnknownPath } from "../../mcp/http/responses.ts";
import { createHttpServer, type HttpOptions, type HttpServer } from "../../mcp/http/http-server.ts";
import { SAVED_PATH } from "../../mcp/tools/saved-links.ts";
import { SECRETS_PATH } from "../../mcp/tools/secret-pages.ts";
import { createAddressOf } from "../../platform/http/address.ts";
import { createShared, openSealingKey, type Shared } from "../compose/compose.ts";
import type { Config, Remote } from "../../config/config.ts";
import { formatConnectHints } from "../compose/connect.ts";
import { openEmbedded } from "../compose/embedded.ts";
import { waitForAbort } from "../../kit/abort.ts";
import type { Entrance } from "../compose/entrance.ts";
import { openEntrance } from "../compose/http-gate.ts";
import { withExportKey } from "../compose/export-key.ts";
import type { Io } from "./io.ts";
import { asksForPage, failedRequest, otherHostPage } from "../../server/failures.ts";
import { openMetrics } from "../../server/metrics.ts";
import { observe } from "../../server/observe.ts";
import { createOwnRoutes, ownRouteOf, parsePath } from "../../server/own-routes.ts";
import { createNeedsFactory } from "../compose/people.ts";
import { readProfileStamp, withProfile } from "../compose/profile.ts";
import { releaseMemory, withoutMoreRoom } from "./v8-flags.ts";
import { warnOfOpenKeyFile } from "../../config/folder.ts";
import { checkSealedFolders } from "../compose/sealed-folders.ts";
import { openSecretPages, type SecretPlace } from "../compose/secret-pages.ts";
import { openSavedDownloads } from "../compose/saved-downloads.ts";
import { createSiteListener } from "../compose/site.ts";
import {
  type Address,
  createMcpListener,
  createPlatformListener,
  onlyForHosts,
  serve,
  type Served,
} from "../../server/serve.ts";
import { createStartup, type Startup } from "./startup.ts";

const MCP_PATH = "/mcp";
const SAVED_ROUTE = `${SAVED_PATH}{token}`;
const SECRETS_ROUTE = `${SECRETS_PATH}{token}`;
const DESCRIPTION_ROUTE = "/.well-known/oauth-protected-resource";
const CARD_ROUTE = "(server-card)";
const SITE_ROUTE = "(site)";
const SIGN_IN_ROUTE = "(sign-in)";
const DESCRIPTION = /^\/\.well-known\/oauth-protected-resource(\/|\?|$)/;

const isMcp = ({ url }: IncomingMessage): boolean => /^\/mcp\/?(\?|$)/.test(url ?? "");

const isDescription = ({ url }: IncomingMessage): boolean => DESCRIPTION.test(url ?? "");

const isCard = (request: IncomingMessage): boolean =>
  [CARD_PATH, CATALOG_PATH].includes(parsePath(request));

const isSecret = ({ url }: IncomingMessage): boolean => url?.startsWith(SECRETS_PATH) === true;

const isSaved = ({ url }: IncomingMessage): boolean => url?.startsWith(SAVED_PATH) === true;

/** Wildcard addresses, which hosts cannot send as a name. */
const WILDCARDS = ["0.0.0.0", "::"];

/** Returns the host names under which the server can be called, and the check of origins. The settings add to both. */
const listAcceptedNames = (
  { http: { hosts = [], origins = [] }, publicUrl }: Config,
  { host }: Address,
): Required<Pick<HttpOptions, "isOrigin">> & { hosts: readonly string[] } => {
  const listening = isIPv6(host) ? `[${host}]` : host;
  const own = [
    ...(WILDCARDS.includes(host) ? [] : [listening]),
    ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname]),
  ];
  return {
    hosts: [...localhostAllowedHostnames(), ...own, ...hosts],
    isOrigin: createOriginCheck([...origins, ...(publicUrl === undefined ? [] : [publicUrl])]),
  };
};

/** Passes requests to the embedded platform once it has been opened. */
const createPlatformHandler = (
  { opened, config, oauthStorage, log }: Shared,
  remote: Remote | undefined,
  report: ReportRequest,
): RequestListener => {
  let listener: RequestListener | undefined;
  const checkStore = async (): Promise<void> => {
    await (await oauthStorage()).find("Ready", "ready");
  };
  const shares = config.databaseUrl !== undefined;
  const routes = createOwnRoutes({ remote, log, ...(shares ? { checkStore } : {}) });
  const own = observe(report, ownRouteOf, routes);
  return (request, response) => {
    const platform = opened()?.platform;
    if (platform === undefined) return own(request, response);
    listener ??= createPlatformListener(platform);
    return listener(request, response);
  };
};

/** The parts of the server beside the platform. */
type Mcp = {
  server: HttpServer;
  secrets: SecretPlace;
  /** The downloads of saved tables. */
  downloads: RequestListener;
  site: RequestListener;
  /** Serves the server card and the catalogue that names it. */
  card: RequestListener;
  /** Host names under which the server can be called. */
  hosts: readonly string[];
};

const createListener = (
  { server, secrets, downloads, site, card, hosts }: Mcp,
  shared: Shared,
  { signIn, remote }: Pick<Entrance, "signIn"> & { remote: Remote | undefined },
): RequestListener => {
  const report = createReport(shared.log);
  const forHosts = (listener: RequestListener) => onlyForHosts(hosts, listener, otherHostPage);
  const onMcp = observe(report, MCP_PATH, createMcpListener(server));
  const onSite = observe(report, SITE_ROUTE, site);
  const onCard = observe(report, CARD_ROUTE, forHosts(card));
  const onSecret = observe(report, SECRETS_ROUTE, forHosts(secrets.listener));
  const onSaved = observe(report, SAVED_ROUTE, forHosts(downloads));
  const onSignIn = signIn && observe(report, SIGN_IN_ROUTE, forHosts(signIn.listener));
  const describe = async (request: Request) => server.describe(request) ?? refuseUnknownPath();
  const onDescription = observe(
    report,
    DESCRIPTION_ROUTE,
    createMcpListener({ fetch: describe }, failedRequest),
  );
  const onPlatform = createPlatformHandler(shared, remote, report);
  const addressOf = createAddressOf(shared.config.trustedProxies);
  return (request, response) => {
    const ofClient = (listener: RequestListener) =>
      withClientAddress(addressOf(request), () => listener(request, response));
    if (isMcp(request))
      return asksForPage(request.method, request.headers.accept)
        ? onSite(request, response)
        : ofClient(onMcp);
    if (isCard(request)) return onCard(request, response);
    if (signIn?.isPath(parsePath(request))) return onSignIn?.(request, response);
    if (isSaved(request)) return ofClient(onSaved);
    if (isSecret(request)) return ofClient(onSecret);
    if (isSitePath(parsePath(request))) return onSite(request, response);
    return isDescription(request)
      ? onDescription(request, response)
      : onPlatform(request, response);
  };
};

/** Creates the MCP server at its public address. */
const createMcp = async (
  mcpUrl: URL,
  {
    io,
    address,
    shared,
    state,
    entrance,
  }: { io: Io; address: Address; shared: Shared; state: HttpOptions["shared"]; entrance: Entrance },
): Promise<Mcp> => {
  const { config, log } = shared;
  const base = mcpUrl.href.slice(0, -MCP_PATH.length);
  const gate = entrance.gateAt(mcpUrl);
  const secrets = await openSecretPages(shared, { base, keyMaker: entrance.keyMaker });
  const downloads = await openSavedDownloads(shared, base);
  const places = { secretPages: secrets.pages, downloads, mcpUrl };
  const open = createNeedsFactory(shared, entrance, places);
  const serverOptions = {
    settings: config.mcp,
    version: io.version,
    log,
    open,
    stampOf: async ({ profile, lacksExportKey }: Caller) => {
      const credentials =
        (entrance.isProfile?.(profile) ?? entrance.identityOf === undefined)
          ? await readProfileStamp(config, profile)
          : "";
      return `${lacksExportKey} ${credentials}`;
    },
  };
  const names = listAcceptedNames(config, address);
  const answerCard = createCardHandler({ version: io.version, mcpUrl: mcpUrl.href });
  const site = createSiteListener({
    config,
    entrance,
    version: io.version,
    mcpUrl: mcpUrl.href,
    hosts: names.hosts,
    hasDocs: shared.opened() !== undefined,
  });
  return {
    server: createHttpServer(serverOptions, { ...names, gate, shared: state }),
    secrets,
    downloads: downloads.listener,
    site,
    card: createMcpListener({ fetch: async (request) => answerCard(request) }, failedRequest),
    hosts: names.hosts,
  };
};

/** Opens the state that the nodes behind one address share: in the database, if the settings name one. */
const openSharedState = async (shared: Shared): Promise<HttpOptions["shared"]> => {
  const { config, log } = shared;
  if (config.databaseUrl === undefined) return undefined;
  const { createPostgresChanges } = await import("../../kit/postgres/changes.ts");
  const { createSharedSessions } = await import("../../records/shared-sessions.ts");
  const storage = await shared.oauthStorage();
  const key = await openSealingKey(shared);
  const changes = createPostgresChanges(config.databaseUrl.reveal(), log);
  return {
    sessions: createSharedSessions({ storage, changes, key, now: systemClock }),
    changes,
  };
};

/** A listener that is chosen after the server listens: requests wait for it. */
const createLateListener = () => {
  const { promise, resolve } = Promise.withResolvers<RequestListener>();
  const listener: RequestListener = async (...exchange) => (await promise)(...exchange);
  const refuse: RequestListener = (_request, response) => void response.writeHead(503).end();
  return { listener, open: resolve, fail: () => resolve(refuse) };
};

type Started = {
  /** The server's address on this machine. */
  url: string;
  /** The MCP endpoint as hosts reach it. */
  known: URL;
  remote: Remote | undefined;
  entrance: Entrance;
  hasDemo: boolean;
};

/** Prints the line of a server that is ready, logs it, and says at a terminal how to connect hosts. */
const announceStart = (
  { io, startup, log }: { io: Io; startup: Startup; log: Log },
  { url, known, remote, entrance, hasDemo }: Started,
): void => {
  const mcpUrl = url + MCP_PATH;
  const { gateway: baseUrl, export: extBaseUrl } = remote ?? { gateway: url, export: url };
  const { auth, tokens } = entrance;
  // A log has no token, and lines of JSON only.
  if (startup.isPerson) {
    startup.end();
    io.notify(formatConnectHints({ mcpUrl: known.href, entrance, io, hasDemo }));
  }
  io.print({ event: "ready", baseUrl, extBaseUrl, mcpUrl });
  log.info("server.started", { version: io.version, url: mcpUrl, auth, tokensFile: tokens?.path });
  startup.release();
};

/** Serves MCP, and the platform if it is embedded, in one process on one port. */
export const serveHttp = async (io: Io, address: Address): Promise<void> => {
  const ended = io.takeSignals();
  const config = await withExportKey(io.config, "http");
  const startup = createStartup(io);
  const figures = async () => shared.opened()?.platform.figures();
  const metrics = await openMetrics(config, startup.log, figures);
  const { log } = metrics;
  const { promise: ownUrl, resolve: servedAt } = Promise.withResolvers<string>();
  const shared = createShared(config, log, () =>
    withoutMoreRoom(() => openEmbedded(config, log, () => ownUrl, startup.progress)),
  );
  const late = createLateListener();
  let state: HttpOptions["shared"];
  let served: Served | undefined;
  try {
    await checkSealedFolders(config);
    warnOfOpenKeyFile(config, log);
    const entrance = await openEntrance(shared, address);
    const { remote } = await withProfile(config);
    if (remote !== undefined && config.databaseUrl !== undefined) {
      const { requireStoreKey } = await import("../compose/inspect-store.ts");
      await requireStoreKey(config);
    }
    state = await openSharedState(shared);
    // Listens first: a port in use is noticed before the first start loads the demo tenant.
    served = await serve(late.listener, address);
    servedAt(served.url);
    const base = (config.publicUrl ?? served.url).replace(/\/$/, "");
    if (startup.isPerson) io.notify(`\n  The page of this server: ${base}/`);
    const embedded = remote === undefined ? await shared.embedded() : undefined;
    const known = new URL(base + MCP_PATH);
    const mcp = await createMcp(known, { io, address, shared, state, entrance });
    releaseMemory();
    late.open(createListener(mcp, shared, { ...entrance, remote }));
    const hasDemo = embedded?.credentials !== undefined;
    announceStart({ io, startup, log }, { url: served.url, known, remote, entrance, hasDemo });
    await waitForAbort(ended);
    log.info("server.stopping");
    await served.drain();
    const closed = served.close();
    await entrance.close?.();
    await mcp.server.close();
    await closed;
  } finally {
    startup.release();
    late.fail();
    await served?.close();
    await state?.changes.close();
    await shared.close();
    await metrics.close();
  }
};
