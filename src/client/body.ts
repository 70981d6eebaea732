import { isUtf8 } from "node:buffer";
import { TransportFault } from "./fault.ts";
import type { WireReply, WireRequest } from "./port.ts";

type Chunks = AsyncIterable<Uint8Array>;

/** No refusal has so much to say; what is longer is somebody else's page. */
const MAX_REFUSAL_BYTES = 4 * 1024 * 1024;

/** The bytes, or undefined where there are more than so many; breaking off ends the stream. */
const readBytes = async (chunks: Chunks, maxBytes: number): Promise<Buffer | undefined> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    parts.push(chunk);
  }
  return Buffer.concat(parts);
};

const wholeOf = async (chunks: Chunks, maxBytes: number): Promise<Buffer> => {
  const bytes = await readBytes(chunks, maxBytes);
  if (bytes === undefined) throw new TransportFault("too_large");
  return bytes;
};

/** Leaves a body that nobody wants; breaking off ends its stream. */
const leave = async (chunks: Chunks): Promise<void> => {
  for await (const _ of chunks) break;
};

const isLarger = (length: string | undefined, maxBytes: number): boolean =>
  length !== undefined && /^\d+$/.test(length) && Number(length) > maxBytes;

// Text that is no UTF-8 would become other text without a word: another account's number, say.
const textOf = (bytes: Buffer): string => {
  if (!isUtf8(bytes)) throw new TransportFault("garbled");
  return bytes.toString("utf8").replace(/^\uFEFF/, "");
};

// What is wrong with a refusal never hides that it is one.
const refusalOf = async (chunks: Chunks): Promise<string> =>
  (await readBytes(chunks, MAX_REFUSAL_BYTES))?.toString("utf8") ?? "(too long)";

export const isSuccess = (status: number): boolean => status >= 200 && status <= 299;

/**
 * Reads an answer's body: a file as its bytes if it is small enough, all else as text; never more than `maxBytes`. It is
 * taken as it comes: a compressed body, which nobody asked for, is never unpacked.
 */
export const readBody = async (
  { maxFileBytes }: Pick<WireRequest, "maxFileBytes">,
  { status, headers }: Omit<WireReply, "body">,
  chunks: Chunks | null,
  maxBytes: number,
): Promise<Pick<WireReply, "body" | "bytes">> => {
  if (chunks === null) return { body: "" };
  if (!isSuccess(status)) return { body: await refusalOf(chunks) };
  if (maxFileBytes === undefined || status !== 200) {
    return { body: textOf(await wholeOf(chunks, maxBytes)) };
  }
  if (isLarger(headers["content-length"], maxFileBytes)) {
    await leave(chunks);
    return { body: "" };
  }
  return { body: "", bytes: await wholeOf(chunks, maxFileBytes) };
};
