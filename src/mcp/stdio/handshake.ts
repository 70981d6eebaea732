import { type ServerInfo, createServerInfo } from "../server-info.ts";
import {
  isInitializeParams,
  isId,
  isEmptyModernParams,
  isEmptyLegacyParams,
  isText,
  type MessageId,
  parseMessage,
} from "./handshake-messages.ts";
import type { ServerOptions } from "../server.ts";

/**
 * What hosts ask when they start, in either protocol era: the greeting and the lists. All of it is known beforehand, so
 * it is answered here, in the SDK's words and without it; many a host asks nothing more for hours.
 */
export type Handshake = {
  /** The answer's line, empty where none is due; undefined where the server itself must answer. */
  answer(line: string): string | undefined;
  /** The lines of the handshake, for the server that goes on from here. */
  heard(): readonly string[];
  /** The request of the handshake, which has had its answer. */
  greeted(): MessageId | undefined;
};

const listsOf = (face: ServerInfo): Record<string, object> => ({
  "tools/list": { tools: face.tools },
  "resources/list": { resources: face.resources },
  "resources/templates/list": { resourceTemplates: face.resourceTemplates },
  "prompts/list": { prompts: face.prompts },
});

const lineOf = (id: MessageId, result: object): string =>
  `${JSON.stringify({ result, jsonrpc: "2.0", id })}\n`;

const find = (results: Record<string, object>, method: string): object | undefined =>
  Object.hasOwn(results, method) ? results[method] : undefined;

/** The protocol of 2026 has no handshake: each request says what its host can, each answer whose it is. */
const modernAnswers = ({ info, capabilities, instructions, hint }: ServerInfo, lists: object) => {
  const results: Record<string, object> = {
    ...lists,
    "server/discover": { supportedVersions: ["2026-07-28"], capabilities, instructions },
  };
  const frame = {
    resultType: "complete",
    ...hint,
    _meta: { "io.modelcontextprotocol/serverInfo": info },
  };
  return (id: MessageId, method: string): string | undefined => {
    const result = find(results, method);
    return result && lineOf(id, { ...result, ...frame });
  };
};

export const createHandshake = (front: Pick<ServerOptions, "settings" | "version">): Handshake => {
  const face = createServerInfo(front);
  const lists = listsOf(face);
  const modern = modernAnswers(face, lists);
  const { capabilities, info: serverInfo, instructions } = face;
  const heard: string[] = [];
  let greeted: MessageId | undefined;

  const greet = (line: string, id: MessageId, params: unknown): string | undefined => {
    if (!isInitializeParams(params)) return undefined;
    greeted = id;
    heard.push(line);
    const { protocolVersion } = params;
    return lineOf(id, { protocolVersion, capabilities, serverInfo, instructions });
  };

  const request = (line: string, id: MessageId, method: string, params: unknown) => {
    if (greeted === undefined) {
      return method === "initialize"
        ? greet(line, id, params)
        : isEmptyModernParams(params)
          ? modern(id, method)
          : undefined;
    }
    const result = method === "ping" ? {} : find(lists, method);
    return result && isEmptyLegacyParams(params) ? lineOf(id, result) : undefined;
  };

  const note = (line: string, method: string, params: unknown): string | undefined => {
    const isNext = method === "notifications/initialized" && heard.length === 1;
    if (!isNext || !isEmptyLegacyParams(params)) return undefined;
    heard.push(line);
    return "";
  };

  return {
    answer(line) {
      const { id, method, params } = parseMessage(line) ?? {};
      if (!isText(method)) return undefined;
      if (id === undefined) return note(line, method, params);
      return isId(id) ? request(line, id, method, params) : undefined;
    },
    heard: () => heard,
    greeted: () => greeted,
  };
};
