import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A connection on which a test says what no client would. */
export type RawSocket = {
  socket: Socket;
  say(text: string): void;
  /** The text received so far. */
  heard(): string;
  /** Everything that came, once the other side has hung up. */
  ended(): Promise<string>;
};

export const rawSocket = async (url: string): Promise<RawSocket> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  // A server that cuts a connection is what some tests wait for.
  socket.on("error", () => {});
  const closed = once(socket, "close");
  await once(socket, "connect");
  return {
    socket,
    say: (line) => socket.write(line),
    heard: () => text,
    async ended() {
      await closed;
      return text;
    },
  };
};

/** One request as it goes over the wire, with the header lines given and no others. */
export const rawRequest = (lines: string[], body = ""): string =>
  [...lines, `Content-Length: ${Buffer.byteLength(body)}`, "", body].join("\r\n");
