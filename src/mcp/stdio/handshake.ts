import {
  createServerInfo,
  identify,
  type Identity,
  MODERN_VERSION,
  type ServerInfo,
} from "../server-info.ts";
import type { ServerOptions } from "../server.ts";
import { isRecord } from "../../kit/json.ts";
import { isLongId, mayHaveOddId, type MessageId } from "../message-ids.ts";

/** The protocol versions that have an `initialize` request. */
export const HANDSHAKE_VERSIONS = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];

/**
 * Strict checks of the messages that the handshake answers. A message with any other part may be invalid or belong to
 * another protocol version, so it is left to the SDK.
 */
type Fields = Record<string, unknown>;

const isText = (value: unknown): value is string => typeof value === "string";

const isId = (value: unknown): value is MessageId =>
  (isText(value) && !isLongId(value)) || Number.isSafeInteger(value);

/** Returns an object that has no fields but these; undefined for any other value. */
const withFieldsOnly = (value: unknown, names: readonly string[]): Fields | undefined =>
  isRecord(value) && Object.keys(value).every((name) => names.includes(name)) ? value : undefined;

export const parseMessage = (line: string): Fields | undefined => {
  if (mayHaveOddId(line)) return undefined;
  try {
    const message = withFieldsOnly(JSON.parse(line), ["jsonrpc", "id", "method", "params"]);
    return message?.["jsonrpc"] === "2.0" ? message : undefined;
  } catch {
    return undefined;
  }
};

const isImplementation = (value: unknown): boolean =>
  isRecord(value) &&
  Object.values(value).every(isText) &&
  isText(value["name"]) &&
  isText(value["version"]);

const isFlags = (value: unknown): boolean =>
  typeof value === "boolean" || (isRecord(value) && Object.values(value).every(isFlags));

const isCapabilities = (value: unknown): boolean =>
  isRecord(value) &&
  Object.entries(value).every(([name, part]) => {
    if (!isRecord(part)) return false;
    const isOpen = name === "extensions" || name === "experimental";
    return Object.values(part).every(isOpen ? isRecord : isFlags);
  });

const isInitializeParams = (
  params: unknown,
): params is { protocolVersion: string; capabilities: object } => {
  const { protocolVersion, capabilities, clientInfo } =
    withFieldsOnly(params, ["protocolVersion", "capabilities", "clientInfo"]) ?? {};
  return (
    isText(protocolVersion) &&
    HANDSHAKE_VERSIONS.includes(protocolVersion) &&
    isCapabilities(capabilities) &&
    isImplementation(clientInfo)
  );
};

/** Returns the `_meta` of params that have nothing else; undefined if it has other fields than these. */
const findMeta = (params: unknown, names: readonly string[]): Fields | undefined => {
  const meta = withFieldsOnly(withFieldsOnly(params, ["_meta"])?.["_meta"], [
    "progressToken",
    ...names,
  ]);
  return meta !== undefined && (!("progressToken" in meta) || isId(meta["progressToken"]))
    ? meta
    : undefined;
};

/** Whether the params of a request of 2025 contain no arguments. */
const isEmptyLegacyParams = (params: unknown): boolean =>
  params === undefined ||
  (isRecord(params) && Object.keys(params).length === 0) ||
  findMeta(params, []) !== undefined;

const VERSION = "io.modelcontextprotocol/protocolVersion";
const INFO = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

/** Returns the capabilities in the params of a request of 2026 that contain no arguments. */
const findModernCapabilities = (params: unknown): object | undefined => {
  const meta = findMeta(params, [VERSION, INFO, CAPABILITIES]);
  const capabilities = meta?.[CAPABILITIES];
  const isKnown = meta?.[VERSION] === MODERN_VERSION && isImplementation(meta[INFO]);
  return isKnown && isRecord(capabilities) && isCapabilities(capabilities)
    ? capabilities
    : undefined;
};

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

const buildListResults = (info: ServerInfo, capabilities: unknown): Results => {
  const { tools, resources, resourceTemplates, prompts } = info.listsFor(capabilities);
  return {
    "tools/list": { tools },
    "resources/list": { resources },
    "resources/templates/list": { resourceTemplates },
    "prompts/list": { prompts },
  };
};

/** Adds to each result what every response of 2026 contains. */
const buildModernResults = (serverInfo: ServerInfo, clientCapabilities: unknown): Results => {
  const { info, capabilities, instructions, hint } = serverInfo;
  const addFrame = (result: object, about: Identity) => ({
    ...result,
    resultType: "complete",
    ...hint,
    _meta: { "io.modelcontextprotocol/serverInfo": about },
  });
  const identity = identify(info);
  const lists = Object.entries(buildListResults(serverInfo, clientCapabilities));
  const discovered = { supportedVersions: ["2026-07-28"], capabilities, instructions };
  return Object.fromEntries([
    ...lists.map(([method, result]) => [method, addFrame(result, identity)]),
    ["server/discover", addFrame(discovered, info)],
  ]);
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
