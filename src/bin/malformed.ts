import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { SECOND } from "../kit/clock.ts";

/** The time for a client to finish sending and to read why its request was refused. */
const DISCARD_MS = 2 * SECOND;

/** The statuses with which Node.js itself answers bytes that are no request. */
const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Answers bytes that are no request, such as a head of more than 16 KiB, and ends the connection. What the client goes
 * on sending is read and discarded for a while: closing a connection with unread bytes resets it, and a client that is
 * still sending would lose the answer.
 */
export const refuseMalformed = (
  error: NodeJS.ErrnoException,
  socket: Duplex,
  isAnswering: boolean,
): void => {
  if (!socket.writable || isAnswering) {
    socket.destroy();
    return;
  }
  const status = STATUSES[error.code ?? ""] ?? 400;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`);
  // In place of the parser, which has stopped at the error.
  socket.removeAllListeners("data").on("data", () => {});
  const cut = setTimeout(() => socket.destroy(), DISCARD_MS);
  socket.once("close", () => clearTimeout(cut));
};
