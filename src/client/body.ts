import { TransportFault } from "./fault.ts";
import type { WireReply, WireRequest } from "./port.ts";

type Chunks = AsyncIterable<Uint8Array>;

const readBytes = async (chunks: Chunks, maxBytes: number): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new TransportFault("too_large");
    parts.push(chunk);
  }
  return Buffer.concat(parts);
};

/** Leaves a body that nobody wants; breaking off ends its stream. */
const leave = async (chunks: Chunks): Promise<void> => {
  for await (const _ of chunks) break;
};

const isLarger = (length: string | undefined, maxBytes: number): boolean =>
  length !== undefined && /^\d+$/.test(length) && Number(length) > maxBytes;

/** Reads an answer's body: a file as its bytes if it is small enough, all else as text; never more than `maxBytes`. */
export const readBody = async (
  { maxFileBytes }: Pick<WireRequest, "maxFileBytes">,
  { status, headers }: Omit<WireReply, "body">,
  chunks: Chunks | null,
  maxBytes: number,
): Promise<Pick<WireReply, "body" | "bytes">> => {
  if (chunks === null) return { body: "" };
  if (maxFileBytes === undefined || status !== 200) {
    return { body: (await readBytes(chunks, maxBytes)).toString("utf8") };
  }
  if (isLarger(headers["content-length"], maxFileBytes)) {
    await leave(chunks);
    return { body: "" };
  }
  return { body: "", bytes: await readBytes(chunks, maxFileBytes) };
};
