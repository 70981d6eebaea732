import { type BinaryToTextEncoding, createHash } from "node:crypto";

const BLOCK_BYTES = 64;

/**
 * Creates HMAC with SHA-256 under a key of at most 64 bytes. Begins with stored states of both hashes (RFC 2104, section
 * 4), because setting up `createHmac` takes most of its time.
 */
export const createHmacSha256 = (
  key: Buffer,
  encoding: BinaryToTextEncoding,
): ((text: string) => string) => {
  if (key.length > BLOCK_BYTES) throw new RangeError("the key is longer than a block");
  const begin = (pad: number) =>
    createHash("sha256").update(
      Uint8Array.from({ length: BLOCK_BYTES }, (_, index) => (key[index] ?? 0) ^ pad),
    );
  const [inner, outer] = [begin(0x36), begin(0x5c)];
  return (text) => outer.copy().update(inner.copy().update(text).digest()).digest(encoding);
};
