import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from "@modelcontextprotocol/server";
import { errorFields } from "../kit/log.ts";
import type { Front } from "./needs.ts";
import { createBuildServer } from "./server.ts";

export type HttpServer = {
  /** Answers one request to the MCP address. */
  fetch: (request: Request) => Promise<Response>;
  close(): Promise<void>;
};

/** Names without port, as Host and Origin may bear them; loopback unless told otherwise. */
export type Accepted = { hosts?: readonly string[]; origins?: readonly string[] };

const bare = (name: string): string => name.replace(/^https?:\/\//i, "").replace(/:\d+$/, "");

/** MCP over HTTP without sessions, in both eras: a server per request. A browser page elsewhere gets 403. */
export const createHttp = (front: Front, { hosts, origins }: Accepted = {}): HttpServer => {
  const build = createBuildServer(front);
  const handler = createMcpHandler((context) => build(context), {
    onerror: (error) => {
      front.log.debug("mcp.http", errorFields(error));
    },
  });
  const hostNames = (hosts ?? localhostAllowedHostnames()).map(bare);
  const originNames = (origins ?? localhostAllowedOrigins()).map(bare);
  return {
    fetch: async (request) => {
      const refused =
        hostHeaderValidationResponse(request, hostNames) ??
        originValidationResponse(request, originNames);
      return refused ?? handler.fetch(request);
    },
    close: () => handler.close(),
  };
};
