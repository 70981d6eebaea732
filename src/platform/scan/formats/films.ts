import { type Format, mismatch } from "../scan-context.ts";

const MAX_BOXES = 100_000;
const BOX = /^[\x20-\x7e\xa9]{4}$/;

/** Checks an MP4 or QuickTime film: boxes (ISO/IEC 14496-12) up to the end of the file, one of them the index. */
export const checkFilm: Format = async (bytes) => {
  let hasIndex = false;
  let count = 0;
  for (let at = 0; at < bytes.size; count += 1) {
    const head = await bytes.read(at, 16);
    // A QuickTime list may end with a zero of four bytes.
    if (head.byteLength === 4 && head.readUInt32BE(0) === 0) break;
    if (head.byteLength < 8 || count > MAX_BOXES) throw mismatch("The film is cut off or broken.");
    const type = head.toString("latin1", 4, 8);
    let size = head.readUInt32BE(0);
    if (size === 1 && head.byteLength === 16) size = Number(head.readBigUInt64BE(8));
    if (size === 0) size = bytes.size - at;
    if (size < 8 || at + size > bytes.size || !BOX.test(type)) {
      throw mismatch("The film is cut off or broken.");
    }
    hasIndex ||= type === "moov";
    at += size;
  }
  if (!hasIndex) throw mismatch("The film has no index.");
};
