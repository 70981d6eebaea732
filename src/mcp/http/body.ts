import { isUtf8 } from "node:buffer";
import { setImmediate } from "node:timers/promises";
import { isJsonContentType } from "@modelcontextprotocol/server";
import { isEncoded, isUtf8Type } from "../../kit/charset.ts";
import { SECOND } from "../../kit/clock.ts";
import { waitAtMost } from "../../kit/wait.ts";
import { createErrorResponse } from "./responses.ts";
import { CHARACTERS_PER_TURN, findExceededLimitInTurns } from "../../kit/in-turns.ts";
import { type ExceededLimit, MESSAGE_LIMITS } from "../../kit/json.ts";
import { createIdScanner, type MessageId, parseWithIds, scanId } from "../message-ids.ts";
import { describeExceeded } from "../messages.ts";

/** Largest body, in bytes, and the time in which it must arrive, in milliseconds. */
export type BodyLimits = { bytes: number; ms: number };

const BODY_LIMITS: BodyLimits = { bytes: 4 * 1024 * 1024, ms: 30 * SECOND };

const decoder = new TextDecoder();

/** As many messages as the SDK takes at once, which looks at each before it counts them. */
const MAX_BATCH = 100;

/** The time in which the id of a request that is too long must arrive, in milliseconds. */
const ID_MS = SECOND;

// The connection stays open: a client that is still sending would not read the response otherwise.
const tooLarge = ({ bytes }: BodyLimits, id: MessageId | undefined): Response =>
  createErrorResponse(413, `The request is longer than ${bytes} bytes; send less at once.`, {
    id: id ?? null,
  });

const tooSlow = ({ ms }: BodyLimits): Response =>
  createErrorResponse(408, `The request took longer than ${ms / SECOND} seconds to arrive.`, {
    headers: { Connection: "close" },
  });

/** Finds the id of a message, with turns of the event loop in between. */
const scanIdInTurns = async (bytes: Uint8Array): Promise<MessageId | null> => {
  const scanner = createIdScanner();
  for (let at = 0; at < bytes.length; at += CHARACTERS_PER_TURN) {
    if (at > 0) await setImmediate();
    scanner.read(bytes.subarray(at, at + CHARACTERS_PER_TURN));
  }
  return scanner.id() ?? null;
};

const notJson = async (bytes: Uint8Array): Promise<Response> =>
  createErrorResponse(400, "The request's body is not JSON.", {
    code: -32_700,
    id: await scanIdInTurns(bytes),
  });

const tooComplex = async (bytes: Uint8Array, exceeded: ExceededLimit): Promise<Response> =>
  createErrorResponse(400, describeExceeded(exceeded), {
    code: -32_600,
    id: await scanIdInTurns(bytes),
  });

const tooMany = (): Response =>
  createErrorResponse(400, `A batch has more than ${MAX_BATCH} messages; send fewer at once.`, {
    code: -32_600,
  });

const invalidUtf8 = async (bytes: Uint8Array): Promise<Response> =>
  createErrorResponse(400, "The request's body has bytes that are not UTF-8; send it in UTF-8.", {
    code: -32_700,
    id: await scanIdInTurns(bytes),
  });

const encoded = (): Response =>
  createErrorResponse(415, "Send the request without Content-Encoding; it is not decoded here.", {
    headers: { "Accept-Encoding": "identity" },
  });

/** The bytes of a body, or the id of a request that is too long, if the part that was read contains it. */
type Sent = { bytes: Uint8Array } | { tooLarge: true; id: MessageId | undefined };

/**
 * Reads a body to its end, because a client that is still sending does not read the response. Resolves as soon as
 * `take` has seen enough of it, else with what `finish` makes of the whole.
 */
const readToEnd = (
  chunks: AsyncIterable<Uint8Array>,
  take: (chunk: Uint8Array) => Sent | undefined,
  finish: () => Sent,
): Promise<Sent> =>
  new Promise((resolve, reject) => {
    const read = async (): Promise<void> => {
      let sent: Sent | undefined;
      for await (const chunk of chunks) {
        if (sent !== undefined) continue;
        sent = take(chunk);
        if (sent !== undefined) resolve(sent);
      }
      if (sent === undefined) resolve(finish());
    };
    read().catch(reject);
  });

/** Scans the bytes of a request that is too long for its id. */
const scanLong = (chunks: AsyncIterable<Uint8Array>, most: number): Promise<Sent> => {
  const scanner = createIdScanner();
  let size = 0;
  const finish = (): Sent => ({ tooLarge: true, id: scanner.id() });
  const take = (chunk: Uint8Array): Sent | undefined => {
    scanner.read(chunk.subarray(0, most - size));
    size += chunk.byteLength;
    return scanner.id() !== undefined || size >= most ? finish() : undefined;
  };
  return readToEnd(chunks, take, finish);
};

/** Reads a body without `Content-Length`. */
const readUntold = (chunks: AsyncIterable<Uint8Array>, most: number): Promise<Sent> => {
  let parts: Uint8Array[] = [];
  let size = 0;
  const take = (chunk: Uint8Array): Sent | undefined => {
    parts.push(chunk);
    size += chunk.byteLength;
    if (size <= most) return undefined;
    const start = Buffer.concat(parts, most);
    parts = [];
    return { tooLarge: true, id: scanId(start) };
  };
  return readToEnd(chunks, take, () => ({ bytes: Buffer.concat(parts) }));
};

const readBytes = async (request: Request, { bytes: most }: BodyLimits): Promise<Sent> => {
  const length = request.headers.get("content-length");
  if (length !== null && Number(length) <= most) {
    return { bytes: new Uint8Array(await request.arrayBuffer()) };
  }
  // Cancelling would end the connection before its client has read the response.
  const chunks = request.body?.values({ preventCancel: true });
  if (chunks === undefined) return { bytes: new Uint8Array() };
  if (length === null) return readUntold(chunks, most);
  return (await waitAtMost(ID_MS, scanLong(chunks, most))) ?? { tooLarge: true, id: undefined };
};

const readJson = async (request: Request, limits: BodyLimits): Promise<unknown> => {
  const sent = await readBytes(request, limits).catch((): Sent => ({ bytes: new Uint8Array() }));
  if ("tooLarge" in sent) return tooLarge(limits, sent.id);
  const { bytes } = sent;
  // Decoding invalid bytes would silently change the text, for example an account number.
  if (!isUtf8(bytes)) return invalidUtf8(bytes);
  const text = decoder.decode(bytes);
  const exceeded = await findExceededLimitInTurns(text, MESSAGE_LIMITS);
  if (text.length > CHARACTERS_PER_TURN) await setImmediate();
  if (exceeded !== undefined) return tooComplex(bytes, exceeded);
  const value = parseWithIds(text);
  if (Array.isArray(value) && value.length > MAX_BATCH) return tooMany();
  return value === undefined ? notJson(bytes) : value;
};

/** Refuses a type other than JSON. The body is read for the id alone. */
const otherType = async (request: Request, limits: BodyLimits): Promise<Response> => {
  const sent = await readBytes(request, limits).catch((): Sent => ({ bytes: new Uint8Array() }));
  const id = "tooLarge" in sent ? sent.id : await scanIdInTurns(sent.bytes);
  const message = "Send the request as JSON in UTF-8, with Content-Type: application/json.";
  return createErrorResponse(415, message, { id: id ?? null });
};

/** Returns the parsed JSON body, or the response that refuses it; undefined for a request without one. */
export const readBody = async (
  request: Request,
  limits: BodyLimits = BODY_LIMITS,
): Promise<unknown> => {
  if (request.method !== "POST") return undefined;
  if (isEncoded(request.headers.get("content-encoding"))) return encoded();
  const type = request.headers.get("content-type");
  const isJson = isJsonContentType(type) && isUtf8Type(type ?? "");
  const read = isJson ? readJson : otherType;
  const body = await waitAtMost(limits.ms, read(request, limits));
  return body === undefined ? tooSlow(limits) : body;
};
