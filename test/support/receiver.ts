import { once } from "node:events";
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecure, type ServerOptions } from "node:https";
import type { Server as Listener, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { generate } from "selfsigned";
import { listen } from "./listen.ts";

/** A received request with the bytes of its body. */
export type Received = {
  path: string;
  headers: IncomingMessage["headers"];
  body: Buffer;
  /** The server name of the TLS handshake (SNI). */
  servername: string | false | undefined;
};

/** The receiver's response; 204 by default. */
export type Answering = (answer: ServerResponse, received: Received) => unknown;

export type Receiver = {
  port: number;
  received: Received[];
  /** Number of connections so far. */
  connections: () => number;
  answering: (how: Answering) => void;
  close(): Promise<void>;
};

export type Certificate = { cert: string; key: string };

/** Creates a self-signed certificate for a name and 127.0.0.1. */
export const certificateFor = async (...names: string[]): Promise<Certificate> => {
  const altNames = names.map((value) => ({ type: 2 as const, value }));
  const { cert, private: key } = await generate([{ name: "commonName", value: names[0] ?? "" }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "subjectAltName", altNames: [...altNames, { type: 7, ip: "127.0.0.1" }] },
    ],
  });
  return { cert, key };
};

/** Starts a server on loopback that records requests; https with a certificate. */
export const startReceiver = async (tls?: Certificate & ServerOptions): Promise<Receiver> => {
  let answer: Answering = (response) => response.writeHead(204).end();
  let connections = 0;
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { headers, url: path = "" } = request;
    const { servername } = request.socket as { servername?: string | false };
    const one = { path, headers, body: await buffer(request), servername };
    received.push(one);
    await answer(response, one);
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void =>
    void receive(request, response).catch(() => response.destroy());
  const server: Listener = tls === undefined ? createPlain(listener) : createSecure(tls, listener);
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => {});
  return {
    port: await listen(server),
    received,
    connections: () => connections,
    answering(how) {
      answer = how;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
};

/** Responds with a status only. */
export const status =
  (code: number, headers: Record<string, string> = {}): Answering =>
  (answer) =>
    answer.writeHead(code, headers).end();
