import { type BinaryToTextEncoding, hash } from "node:crypto";

const BLOCK_BYTES = 64;

/**
 * Creates HMAC with SHA-256 (RFC 2104) under a key of at most 64 bytes. Not by `createHmac`, whose objects take several
 * times longer than the hashes.
 */
export const createHmacSha256 = (
  key: Buffer,
  encoding: BinaryToTextEncoding,
): ((text: string) => string) => {
  if (key.length > BLOCK_BYTES) throw new RangeError("the key is longer than a block");
  const block = Buffer.concat([key], BLOCK_BYTES);
  const [inner, outer] = [block.map((byte) => byte ^ 0x36), block.map((byte) => byte ^ 0x5c)];
  return (text) => {
    const digest = hash("sha256", Buffer.concat([inner, Buffer.from(text)]), "buffer");
    return hash("sha256", Buffer.concat([outer, digest]), encoding);
  };
};
