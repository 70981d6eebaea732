/**
 * Messages whose every part is known here. Whatever has further parts may be of another protocol, or be wrong, or mean
 * more: that is for the SDK to say.
 */
export type MessageId = string | number;

/** The versions of the protocol with a handshake. */
export const HANDSHAKE_VERSIONS = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];
const MODERN = "2026-07-28";

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isText = (value: unknown): value is string => typeof value === "string";

export const isId = (value: unknown): value is MessageId =>
  isText(value) || Number.isSafeInteger(value);

/** The parts by name, if there are no others. */
const only = (value: unknown, names: readonly string[]): Fields | undefined =>
  isFields(value) && Object.keys(value).every((name) => names.includes(name)) ? value : undefined;

export const parseMessage = (line: string): Fields | undefined => {
  try {
    const message = only(JSON.parse(line), ["jsonrpc", "id", "method", "params"]);
    return message?.["jsonrpc"] === "2.0" ? message : undefined;
  } catch {
    return undefined;
  }
};

const isInfo = (value: unknown): boolean =>
  isFields(value) &&
  Object.values(value).every(isText) &&
  isText(value["name"]) &&
  isText(value["version"]);

const isFlags = (value: unknown): boolean =>
  typeof value === "boolean" || (isFields(value) && Object.values(value).every(isFlags));

const isCapabilities = (value: unknown): boolean =>
  isFields(value) &&
  Object.entries(value).every(([name, part]) => {
    if (!isFields(part)) return false;
    const isOpen = name === "extensions" || name === "experimental";
    return Object.values(part).every(isOpen ? isFields : isFlags);
  });

export const isInitializeParams = (params: unknown): params is { protocolVersion: string } => {
  const { protocolVersion, capabilities, clientInfo } =
    only(params, ["protocolVersion", "capabilities", "clientInfo"]) ?? {};
  return (
    isText(protocolVersion) &&
    HANDSHAKE_VERSIONS.includes(protocolVersion) &&
    isCapabilities(capabilities) &&
    isInfo(clientInfo)
  );
};

const metaOf = (params: unknown, names: readonly string[]): Fields | undefined => {
  const meta = only(only(params, ["_meta"])?.["_meta"], ["progressToken", ...names]);
  return meta !== undefined && (!("progressToken" in meta) || isId(meta["progressToken"]))
    ? meta
    : undefined;
};

/** A request of 2025 without arguments. */
export const isEmptyLegacyParams = (params: unknown): boolean =>
  params === undefined ||
  (isFields(params) && Object.keys(params).length === 0) ||
  metaOf(params, []) !== undefined;

const VERSION = "io.modelcontextprotocol/protocolVersion";
const INFO = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

/** A request of 2026 without arguments. */
export const isEmptyModernParams = (params: unknown): boolean => {
  const meta = metaOf(params, [VERSION, INFO, CAPABILITIES]);
  return meta?.[VERSION] === MODERN && isInfo(meta[INFO]) && isCapabilities(meta[CAPABILITIES]);
};
