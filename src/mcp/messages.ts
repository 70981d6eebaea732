/**
 * Reads the messages of hosts before the SDK does, which drops what it does not understand, so that the sender would wait
 * for ever. Each message with a readable id is passed on or refused under that id.
 */
import {
  type ExceededLimit,
  isDeeperThan,
  isRecord,
  LONG_NAME,
  MAX_NUMBER_LENGTH,
  MESSAGE_LIMITS,
  parseSent,
} from "../kit/json.ts";
import {
  isLongId,
  MAX_ID_LENGTH,
  type MessageId,
  restoreId,
  toMessageId,
  toOwnId,
} from "./message-ids.ts";

type Fields = Record<string, unknown>;

/** An answer to a message that is not passed on. */
export type Refusal = { id: MessageId | null; code: number; message: string };

/** A message for the SDK (the value itself where nothing was repaired), an answer to one that is not passed on, or one that has no answer. */
export type Reading = { message: Fields } | { refusal: Refusal } | "ignored";

/** No method, tool or prompt has a longer name, and no resource a longer URI. The SDK's errors repeat them whole. */
const MAX_NAME_LENGTH = 8192;

/** Names of protocol versions are days. */
const MAX_VERSION_LENGTH = 255;

const PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO = "io.modelcontextprotocol/clientInfo";
const CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

/** The SDK reads members by recursion, and fails on one of some thousand levels without an answer. */
const MAX_LEVELS = 100;

const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;

const REQUEST_MEMBERS = ["jsonrpc", "id", "method", "params"];
const MEMBERS = [...REQUEST_MEMBERS, "result", "error"];

const EXCEEDED: Partial<Record<ExceededLimit, string>> = {
  depth: `nested deeper than ${MESSAGE_LIMITS.depth} levels; nest it less`,
  names: `too large: it has more than ${MESSAGE_LIMITS.names} names of fields; send less at once`,
  commas: `too large: it has more than ${MESSAGE_LIMITS.commas} values; send less at once`,
  containers: `too large: it has more than ${MESSAGE_LIMITS.containers} lists and objects; send less at once`,
  longNames: `too large: it has more than ${MESSAGE_LIMITS.longNames} names of more than ${LONG_NAME} characters; send less at once`,
  digits: `invalid: a number has more than ${MAX_NUMBER_LENGTH} digits; send at most 15`,
};

/** Says which limit of `MESSAGE_LIMITS` the text of a message exceeds, and what to do. */
export const describeExceeded = (exceeded: ExceededLimit): string =>
  `The message is ${EXCEEDED[exceeded] ?? "too large; send less at once"}.`;

const RELATED_TASK = "io.modelcontextprotocol/related-task";

/** Deeper values are the arguments of tools, whose schemas say what null means there. */
const MAX_DEPTH = 8;

/** Returns a value without the members that are null, which typed clients write for absent ones. */
const withoutNulls = (value: unknown, skip: readonly string[], depth = 0): unknown => {
  if (!isRecord(value) || depth > MAX_DEPTH) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(
    entries.map(([name, member]) => [
      name,
      skip.includes(name) ? member : withoutNulls(member, [], depth + 1),
    ]),
  );
};

const hasNull = (value: unknown, skip: readonly string[], depth = 0): boolean =>
  isRecord(value) &&
  depth <= MAX_DEPTH &&
  Object.entries(value).some(
    ([name, member]) => member === null || (!skip.includes(name) && hasNull(member, [], depth + 1)),
  );

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Returns a value with an object in place of each empty list in so many levels of it: PHP does not tell them apart. */
const withEmptyObjects = (value: unknown, levels: number): unknown => {
  if (isEmptyList(value)) return {};
  if (levels === 0 || !isRecord(value)) return value;
  const entries = Object.entries(value).map(
    ([name, member]) => [name, withEmptyObjects(member, levels - 1)] as const,
  );
  return entries.some(([name, member]) => member !== value[name])
    ? Object.fromEntries(entries)
    : value;
};

/** A capability has parts that are objects or truth values; what they contain is each one's own. */
const CAPABILITY_LEVELS = 2;

const readCapabilities = (capabilities: unknown = {}): unknown =>
  withEmptyObjects(capabilities, CAPABILITY_LEVELS);

const readName = (name: unknown = "unknown"): unknown =>
  typeof name === "number" ? String(name) : name;

/** Returns what a host says about itself, with a name and a version. */
const readClientInfo = (info: unknown = {}): unknown => {
  const given = withEmptyObjects(info, 0);
  if (!isRecord(given)) return given;
  const [name, version] = [readName(given["name"]), readName(given["version"])];
  return name === given["name"] && version === given["version"]
    ? info
    : { ...given, name, version };
};

/** Describes a value that is wrong. Lists and objects are not written out: they may be nested deeper than the stack is. */
const describe = (value: unknown): string => {
  if (value === undefined) return "it is missing";
  if (Array.isArray(value)) return "it is a list";
  if (typeof value === "object" && value !== null) return "it is an object";
  return `it is ${JSON.stringify(value).slice(0, 60)}`;
};

/** Returns the object that a host means by an empty list (PHP), an empty text, or JSON in a text; otherwise the value. */
const readArguments = (value: unknown): unknown => {
  if (typeof value !== "string") return withEmptyObjects(value, 0);
  const parsed = value.trim() === "" ? {} : parseSent(value);
  return isRecord(parsed) ? parsed : value;
};

const findCallFault = ({ name, arguments: args }: Fields): [number, string] | undefined => {
  if (typeof name !== "string") {
    return [INVALID_PARAMS, `The member params.name must be a text; ${describe(name)}.`];
  }
  if (args === undefined || args === null || isRecord(readArguments(args))) return undefined;
  return [INVALID_PARAMS, `The member params.arguments must be an object; ${describe(args)}.`];
};

const isTooLong = (name: unknown, most = MAX_NAME_LENGTH): boolean =>
  typeof name === "string" && name.length > most;

const listItems = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Finds a name that answers would repeat whole. */
const findLongName = (params: Fields): [number, string] | undefined => {
  const { name, uri, notifications, protocolVersion, _meta: meta } = params;
  const uris = isRecord(notifications) ? notifications["resourceSubscriptions"] : undefined;
  const names: [member: string, values: readonly unknown[], most?: number][] = [
    ["name", [name]],
    ["uri", [uri]],
    ["notifications.resourceSubscriptions", listItems(uris)],
    ["protocolVersion", [protocolVersion], MAX_VERSION_LENGTH],
    [
      `_meta["${PROTOCOL_VERSION}"]`,
      isRecord(meta) ? [meta[PROTOCOL_VERSION]] : [],
      MAX_VERSION_LENGTH,
    ],
  ];
  const [member, , most = MAX_NAME_LENGTH] =
    names.find(([, values, limit]) => values.some((value) => isTooLong(value, limit))) ?? [];
  if (member === undefined) return undefined;
  return [INVALID_PARAMS, `The member params.${member} must have at most ${most} characters.`];
};

/** The arguments of a call have a refusal of their own, which is logged as a call. */
const findDeepParams = (params: Fields, isCall: boolean): [number, string] | undefined => {
  const read = isCall ? { ...params, arguments: undefined } : params;
  return isDeeperThan(read, MAX_LEVELS)
    ? [INVALID_PARAMS, `The member params may be nested ${MAX_LEVELS} levels deep.`]
    : undefined;
};

/** Returns the reason why a request or notification cannot be handled; undefined for a good one. */
const findFault = ({
  jsonrpc,
  method,
  params,
}: Fields): [code: number, why: string] | undefined => {
  if (jsonrpc !== "2.0") {
    return [INVALID_REQUEST, `The member jsonrpc must be "2.0"; ${describe(jsonrpc)}.`];
  }
  if (typeof method !== "string") {
    return [INVALID_REQUEST, `The member method must be a text; ${describe(method)}.`];
  }
  if (isTooLong(method)) {
    return [INVALID_REQUEST, `The member method must have at most ${MAX_NAME_LENGTH} characters.`];
  }
  const isCall = method === "tools/call";
  if ((isCall || params !== undefined) && !isRecord(params)) {
    return [INVALID_PARAMS, `The member params must be an object; ${describe(params)}.`];
  }
  if (!isRecord(params)) return undefined;
  return (
    findLongName(params) ??
    findDeepParams(params, isCall) ??
    (isCall ? findCallFault(params) : undefined)
  );
};

const readId = (fields: Fields): MessageId | null | undefined => {
  if (!("id" in fields)) return undefined;
  return toMessageId(fields["id"]) ?? null;
};

const isNotification = ({ id, method }: Fields): boolean =>
  id === undefined ||
  (id === null && typeof method === "string" && method.startsWith("notifications/"));

/** Returns the known members of a message, without those that are null; a message with a method is no response. */
const pickMembers = (value: Fields): Fields => {
  const known = typeof value["method"] === "string" ? REQUEST_MEMBERS : MEMBERS;
  const isPlain = Object.entries(value).every(
    ([name, member]) => known.includes(name) && (member !== null || name === "id"),
  );
  if (isPlain) return value;
  return Object.fromEntries(
    known.flatMap((name) => {
      const member = value[name];
      if (member === undefined || (member === null && name !== "id")) return [];
      return [[name, member]];
    }),
  );
};

/** Returns a message with an object in place of each empty list where there can only be an object. */
const readObjects = (fields: Fields): Fields => {
  const { params, result } = fields;
  if (isEmptyList(params)) return { ...fields, params: {} };
  if (isEmptyList(result)) return { ...fields, result: {} };
  // The content of an answer to a form.
  return isRecord(result) && isEmptyList(result["content"])
    ? { ...fields, result: { ...result, content: {} } }
    : fields;
};

const isProgressToken = (value: unknown): boolean =>
  (typeof value === "string" && !isLongId(value)) || Number.isSafeInteger(value);

/** Returns `_meta` without the members for which the SDK drops a whole message, undefined where it is no object. */
const repairMeta = (meta: unknown): Fields | undefined => {
  if (!isRecord(meta)) return undefined;
  const { progressToken, [RELATED_TASK]: task } = meta;
  const isTask = isRecord(task) && typeof task["taskId"] === "string";
  const bad = [
    ...(progressToken === undefined || isProgressToken(progressToken) ? [] : ["progressToken"]),
    ...(task === undefined || isTask ? [] : [RELATED_TASK]),
  ];
  const { [CLIENT_INFO]: info, [CLIENT_CAPABILITIES]: capabilities } = meta;
  const read = {
    ...(info === undefined ? {} : { [CLIENT_INFO]: readClientInfo(info) }),
    ...(capabilities === undefined
      ? {}
      : { [CLIENT_CAPABILITIES]: readCapabilities(capabilities) }),
  };
  const isUnchanged = read[CLIENT_INFO] === info && read[CLIENT_CAPABILITIES] === capabilities;
  if (bad.length === 0 && isUnchanged) return meta;
  const entries = Object.entries({ ...meta, ...read });
  return Object.fromEntries(entries.filter(([name]) => !bad.includes(name)));
};

/** Returns the arguments of a prompt, which are texts: hosts send numbers and truth values, too. */
const writeAsTexts = (args: unknown): unknown =>
  isRecord(args) && Object.values(args).some((value) => typeof value !== "string")
    ? Object.fromEntries(
        Object.entries(args).map(([name, value]) => [
          name,
          ["number", "boolean"].includes(typeof value) ? String(value) : value,
        ]),
      )
    : args;

/** Returns the members of the parameters that differ from what was sent. */
const findRepairs = (method: unknown, params: Fields): Fields => {
  const { _meta: meta, arguments: args, cursor, context, capabilities, clientInfo } = params;
  const isInitialize = method === "initialize";
  const isPrompt = method === "prompts/get";
  const read = isPrompt || method === "tools/call" ? readArguments(args) : args;
  const repaired = {
    _meta: meta === undefined ? undefined : repairMeta(meta),
    arguments: isPrompt ? writeAsTexts(read) : read,
    // An empty cursor is that of the first page.
    cursor: cursor === "" ? undefined : cursor,
    context: withEmptyObjects(context, 1),
    // The answers to questions by their names, each with the content of a form.
    inputResponses: withEmptyObjects(params["inputResponses"], 2),
    capabilities: isInitialize ? readCapabilities(capabilities) : capabilities,
    clientInfo: isInitialize ? readClientInfo(clientInfo) : clientInfo,
  };
  return Object.fromEntries(
    Object.entries(repaired).filter(([name, value]) => value !== params[name]),
  );
};

const repairParams = (fields: Fields): Fields => {
  const { method } = fields;
  // The schema of a tool says whether null is a value.
  const skip = method === "tools/call" ? ["arguments"] : [];
  const params = hasNull(fields["params"], skip)
    ? withoutNulls(fields["params"], skip)
    : fields["params"];
  if (!isRecord(params)) return fields;
  const repairs = findRepairs(method, params);
  if (params === fields["params"] && Object.keys(repairs).length === 0) return fields;
  const entries = Object.entries({ ...params, ...repairs });
  return {
    ...fields,
    params: Object.fromEntries(entries.filter(([, value]) => value !== undefined)),
  };
};

/** In place of a response that cannot be read: its request fails and does not wait any longer. */
const toFailed = ({ jsonrpc, id }: Fields): Fields => ({
  jsonrpc,
  id,
  error: { code: INVALID_REQUEST, message: `A response may be nested ${MAX_LEVELS} levels deep.` },
});

/** Reads one parsed message. */
export const readMessage = (value: unknown): Reading => {
  if (!isRecord(value)) {
    const message = `A message must be a JSON object; ${describe(value)}.`;
    return { refusal: { id: null, code: INVALID_REQUEST, message } };
  }
  const fields = readObjects(pickMembers(value));
  const id = readId(fields);
  // Responses are never answered, so that two sides cannot refuse each other's refusals for ever.
  if (fields["method"] === undefined && ("result" in fields || "error" in fields)) {
    // An error without an id says that a message could not be read; no request waits for it.
    if (id === null) return "ignored";
    const ownId = toOwnId(fields["id"]);
    const response = ownId === fields["id"] ? fields : { ...fields, id: ownId };
    return { message: isDeeperThan(response, MAX_LEVELS) ? toFailed(response) : response };
  }
  const fault = findFault(fields);
  if (isNotification(fields)) {
    const { id: none, ...notification } = fields;
    const message = none === null ? notification : fields;
    if (fault === undefined) return { message: repairParams(message) };
    // Notifications have no answer, but an object that is no message at all has.
    if (typeof fields["method"] === "string") return "ignored";
  }
  if (fault !== undefined) {
    const [code, message] = fault;
    return { refusal: { id: id ?? null, code, message } };
  }
  if (id === null || id === undefined) {
    const message = isLongId(fields["id"])
      ? `The member id must have at most ${MAX_ID_LENGTH} characters.`
      : `The member id must be a text or a number; ${describe(fields["id"])}.`;
    return { refusal: { id: null, code: INVALID_REQUEST, message } };
  }
  return { message: repairParams(fields["id"] === id ? fields : { ...fields, id }) };
};

/** A request that {@link readMessage} has passed on. */
type ReadRequest = { id: MessageId; method: string; params?: Fields };

const isRequest = (message: unknown): message is ReadRequest =>
  isRecord(message) && typeof message["method"] === "string" && message["id"] !== undefined;

/** Returns the requests among messages that were read. The SDK's own check parses each message by its schema. */
export const listRequests = (body: unknown): ReadRequest[] => [body].flat().filter(isRequest);

export const listRequestIds = (body: unknown): MessageId[] =>
  listRequests(body).map(({ id }) => id);

/** Returns a refusal as a JSON-RPC error response; write it with `JSON.stringify`. */
export const toErrorMessage = ({ id, code, message }: Refusal): object => ({
  jsonrpc: "2.0",
  id: id === null ? null : restoreId(id),
  error: { code, message },
});
