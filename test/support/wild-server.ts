import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { closeNow, listen } from "./listen.ts";

export type Seen = {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
};
export type Answer = (request: Seen, response: ServerResponse) => void;

export type WildServer = {
  url: string;
  /** Every request in order. */
  seen: Seen[];
  /** Sets the behaviour from now on. */
  behave(answer: Answer): void;
  close(): Promise<void>;
};

/** Starts an HTTP server on loopback whose responses the test sets. */
export const wildServer = async (first?: Answer): Promise<WildServer> => {
  const seen: Seen[] = [];
  let answer: Answer = first ?? ((_request, response) => response.writeHead(500).end());
  const server = createServer(async (request, response) => {
    const entry = {
      method: request.method ?? "",
      url: request.url ?? "",
      headers: request.headers,
      body: await text(request),
    };
    seen.push(entry);
    answer(entry, response);
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    seen,
    behave(next) {
      answer = next;
    },
    close: () => closeNow(server),
  };
};

export const json = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
};

export const problem = (
  response: ServerResponse,
  status: number,
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
): void => {
  json(response, status, body, { "content-type": "application/problem+json", ...headers });
};
