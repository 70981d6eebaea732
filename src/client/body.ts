import { isUtf8 } from "node:buffer";
import { readAtMost } from "../kit/read-at-most.ts";
import { TransportFault } from "./fault.ts";
import type { WireReply, WireRequest } from "./port.ts";

type Chunks = AsyncIterable<Uint8Array>;

/** Longest error body that is read; a longer one is a proxy's page, not the platform's problem document. */
const MAX_REFUSAL_BYTES = 4 * 1024 * 1024;

const readWhole = async (chunks: Chunks, maxBytes: number): Promise<Buffer> => {
  const bytes = await readAtMost(chunks, maxBytes);
  if (bytes === undefined) throw new TransportFault("too_large");
  return bytes;
};

/** Ends the stream of a body that is not needed. */
const discard = async (chunks: Chunks): Promise<void> => {
  for await (const _ of chunks) break;
};

const exceeds = (length: string | undefined, maxBytes: number): boolean =>
  length !== undefined && /^\d+$/.test(length) && Number(length) > maxBytes;

// Decoding invalid UTF-8 would silently change the text, for instance into another account's number.
const decodeText = (bytes: Buffer): string => {
  if (!isUtf8(bytes)) throw new TransportFault("garbled");
  return bytes.toString("utf8").replace(/^\uFEFF/, "");
};

// An unreadable error body must not hide the error status.
const readRefusal = async (chunks: Chunks): Promise<string> =>
  (await readAtMost(chunks, MAX_REFUSAL_BYTES))?.toString("utf8") ?? "(too long)";

export const isSuccess = (status: number): boolean => status >= 200 && status <= 299;

/**
 * Reads a response body: a file as bytes if it is small enough, everything else as text; never more than `maxBytes`.
 * Compressed bodies are not decompressed, because the client never asks for compression.
 *
 * @throws {TransportFault} `too_large` or `garbled`
 */
export const readBody = async (
  { maxFileBytes }: Pick<WireRequest, "maxFileBytes">,
  { status, headers }: Omit<WireReply, "body">,
  chunks: Chunks | null,
  maxBytes: number,
): Promise<Pick<WireReply, "body" | "bytes">> => {
  if (chunks === null) return { body: "" };
  if (!isSuccess(status)) return { body: await readRefusal(chunks) };
  if (maxFileBytes === undefined || status !== 200) {
    return { body: decodeText(await readWhole(chunks, maxBytes)) };
  }
  if (exceeds(headers["content-length"], maxFileBytes)) {
    await discard(chunks);
    return { body: "" };
  }
  return { body: "", bytes: await readWhole(chunks, maxFileBytes) };
};
