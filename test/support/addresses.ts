import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { createPlatformListener, serve } from "../../src/server/serve.ts";
import type { Platform } from "../../src/platform/platform.ts";
import { parseJson, TRUSTED_PROXY } from "./platform.ts";

export type Answered = {
  status: number;
  headers: IncomingMessage["headers"];
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies freely
  body: any;
};

export type Asked = {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** The loopback address that the connection comes from. */
  from?: string;
};

/** Sends one request over a connection of its own from a loopback address. */
export const askFrom = async (url: string, asked: Asked): Promise<Answered> => {
  const { method = "GET", body, headers = {}, from = "127.0.0.1" } = asked;
  const sent = request(url, {
    method,
    localAddress: from,
    agent: false,
    headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
  });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const content = await text(answer);
  const { statusCode: status = 0, headers: received } = answer;
  return { status, headers: received, text: content, body: parseJson(content) };
};

/** The headers by which a trusted proxy names the client. */
export const behindProxy = (client: string): Pick<Asked, "from" | "headers"> => ({
  from: TRUSTED_PROXY,
  headers: { "X-Forwarded-For": client },
});

/** Serves a platform on a port of its own. */
export const servePlatform = async (platform: Platform) => {
  const served = await serve(createPlatformListener(platform), { host: "127.0.0.1", port: 0 });
  return {
    ask: (path: string, asked: Asked = {}) => askFrom(served.url + path, asked),
    close: () => served.close(),
  };
};
