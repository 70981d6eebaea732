import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A connection on which a test can send invalid requests. */
export type RawSocket = {
  socket: Socket;
  say(text: string): void;
  /** The text received so far. */
  heard(): string;
  /**
   * Resolves with the whole text after the server has ended or reset the connection. A test cannot tell one from the
   * other: Node.js reports a reset as an end if it arrives with the last bytes.
   */
  ended(): Promise<string>;
};

export const rawSocket = async (url: string): Promise<RawSocket> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
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

/** Builds a request with these lines and Content-Length only. */
export const rawRequest = (lines: string[], body = ""): string =>
  [...lines, `Content-Length: ${Buffer.byteLength(body)}`, "", body].join("\r\n");
