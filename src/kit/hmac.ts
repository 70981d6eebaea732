import { type BinaryToTextEncoding, hash } from "node:crypto";

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const MOST_OFTEN_BYTES = 4096;
/** The bytes of one UTF-16 unit in UTF-8. */
const MOST_BYTES_PER_UNIT = 3;

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
  const toPad = (size: number, mask: number): Buffer =>
    Buffer.concat([block.map((byte) => byte ^ mask)], size);
  // Used again for each code: buffers and objects of their own take as long as the hashes.
  const often = toPad(MOST_OFTEN_BYTES, 0x36);
  const outer = toPad(BLOCK_BYTES + DIGEST_BYTES, 0x5c);
  return (text) => {
    const most = BLOCK_BYTES + text.length * MOST_BYTES_PER_UNIT;
    const inner = most > often.length ? toPad(most, 0x36) : often;
    const end = BLOCK_BYTES + inner.write(text, BLOCK_BYTES);
    outer.write(hash("sha256", inner.subarray(0, end), "binary"), BLOCK_BYTES, "binary");
    return hash("sha256", outer, encoding);
  };
};
