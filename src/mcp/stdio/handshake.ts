import { createServerInfo, type ServerInfo } from "../server-info.ts";
import type { ServerOptions } from "../server.ts";
import {
  findModernCapabilities,
  isEmptyLegacyParams,
  isId,
  isInitializeParams,
  isText,
  type MessageId,
  parseMessage,
} from "./handshake-messages.ts";

/**
 * Answers the first requests of hosts in either protocol era: `initialize`, `server/discover` and the lists. The answers
 * follow from the settings and equal the SDK's, but do not load the SDK: many hosts request nothing more for hours.
 */
export type Handshake = {
  /** Returns the response line, "" for a notification; undefined if the SDK's server must handle the line. */
  answer(line: string): string | undefined;
  /** Returns the lines of the initialization, which the SDK's server needs before further ones. */
  initializationLines(): readonly string[];
  /** Returns the id of the `initialize` request that was answered. */
  initializeId(): MessageId | undefined;
};

type Results = Record<string, object>;

const buildListResults = (info: ServerInfo, capabilities: unknown): Results => ({
  "tools/list": { tools: info.listsFor(capabilities).tools },
  "resources/list": { resources: info.listsFor(capabilities).resources },
  "resources/templates/list": { resourceTemplates: info.resourceTemplates },
  "prompts/list": { prompts: info.prompts },
});

/** Adds to each result what every response of 2026 contains. */
const buildModernResults = (serverInfo: ServerInfo, clientCapabilities: unknown): Results => {
  const { info, capabilities, instructions, hint } = serverInfo;
  const frame = {
    resultType: "complete",
    ...hint,
    _meta: { "io.modelcontextprotocol/serverInfo": info },
  };
  const results = {
    ...buildListResults(serverInfo, clientCapabilities),
    "server/discover": { supportedVersions: ["2026-07-28"], capabilities, instructions },
  };
  return Object.fromEntries(
    Object.entries(results).map(([method, result]) => [method, { ...result, ...frame }]),
  );
};

const toLine = (id: MessageId, result: object): string =>
  `${JSON.stringify({ result, jsonrpc: "2.0", id })}\n`;

const findResult = (results: Results, method: string): object | undefined =>
  Object.hasOwn(results, method) ? results[method] : undefined;

export const createHandshake = (
  options: Pick<ServerOptions, "settings" | "version">,
): Handshake => {
  const serverInfo = createServerInfo(options);
  const lines: string[] = [];
  let lists: Results = {};
  let initializeId: MessageId | undefined;

  const initialize = (line: string, id: MessageId, params: unknown): object | undefined => {
    if (!isInitializeParams(params)) return undefined;
    initializeId = id;
    lines.push(line);
    lists = buildListResults(serverInfo, params.capabilities);
    const { protocolVersion } = params;
    const { capabilities, info, instructions } = serverInfo;
    return { protocolVersion, capabilities, serverInfo: info, instructions };
  };

  const findResponse = (line: string, id: MessageId, method: string, params: unknown) => {
    if (initializeId === undefined) {
      if (method === "initialize") return initialize(line, id, params);
      const clientCapabilities = findModernCapabilities(params);
      return clientCapabilities === undefined
        ? undefined
        : findResult(buildModernResults(serverInfo, clientCapabilities), method);
    }
    if (!isEmptyLegacyParams(params)) return undefined;
    return method === "ping" ? {} : findResult(lists, method);
  };

  const acceptNotification = (line: string, method: string, params: unknown) => {
    const isExpected = method === "notifications/initialized" && lines.length === 1;
    if (!isExpected || !isEmptyLegacyParams(params)) return undefined;
    lines.push(line);
    return "";
  };

  return {
    answer(line) {
      const { id, method, params } = parseMessage(line) ?? {};
      if (!isText(method)) return undefined;
      if (id === undefined) return acceptNotification(line, method, params);
      const result = isId(id) ? findResponse(line, id, method, params) : undefined;
      return result && isId(id) ? toLine(id, result) : undefined;
    },
    initializationLines: () => lines,
    initializeId: () => initializeId,
  };
};
