import type { Bytes } from "../bytes.ts";
import { mismatch, type Format } from "../scan-context.ts";

const WINDOW_BYTES = 64 * 1024;

type Cursor = {
  at: number;
  /** Returns the next `length` bytes without advancing. @throws {Refusal} if fewer are left */
  peek(length: number): Promise<Buffer>;
};

/** Creates a cursor that reads the bytes in windows of 64 KiB. */
const createCursor = (bytes: Bytes, what: string): Cursor => {
  let start = 0;
  let window: Buffer = Buffer.alloc(0);
  return {
    at: 0,
    async peek(length) {
      if (this.at < start || this.at + length > start + window.byteLength) {
        start = this.at;
        window = await bytes.read(start, WINDOW_BYTES);
      }
      const found = window.subarray(this.at - start, this.at - start + length);
      if (found.byteLength < length) throw mismatch(`The ${what} is cut off or broken.`);
      return found;
    },
  };
};

/** Refuses bytes after the picture's end other than zeros, with which some programs pad files. */
const checkNothingAfter = async (bytes: Bytes, end: number, what: string): Promise<void> => {
  for await (const piece of bytes.pieces(end)) {
    if (piece.some((byte) => byte !== 0)) throw mismatch(`The ${what} has data after its end.`);
  }
};

export const checkPng: Format = async (bytes) => {
  const cursor = createCursor(bytes, "PNG");
  cursor.at = 8;
  for (let type = ""; type !== "IEND";) {
    const head = await cursor.peek(8);
    const isFirst = type === "";
    type = head.toString("latin1", 4, 8);
    if (isFirst && type !== "IHDR") throw mismatch("The PNG does not begin with its header.");
    if (!/^[A-Za-z]{4}$/.test(type)) throw mismatch("The PNG is cut off or broken.");
    cursor.at += 12 + head.readUInt32BE(0);
  }
  if (cursor.at > bytes.size) throw mismatch("The PNG is cut off or broken.");
  await checkNothingAfter(bytes, cursor.at, "PNG");
};

const GIF_EXTENSION = 0x21;
const GIF_IMAGE = 0x2c;
const GIF_END = 0x3b;

const countTableBytes = (packed: number): number => (packed & 0x80 ? 3 << ((packed & 7) + 1) : 0);

const skipSubBlocks = async (cursor: Cursor): Promise<void> => {
  for (let length = -1; length !== 0; cursor.at += length + 1) {
    length = (await cursor.peek(1)).readUInt8(0);
  }
};

export const checkGif: Format = async (bytes) => {
  const cursor = createCursor(bytes, "GIF");
  cursor.at = 13 + countTableBytes((await cursor.peek(13)).readUInt8(10));
  for (;;) {
    const kind = (await cursor.peek(1)).readUInt8(0);
    if (kind === GIF_END) break;
    if (kind === GIF_EXTENSION) cursor.at += 2;
    else if (kind === GIF_IMAGE) {
      cursor.at += 11 + countTableBytes((await cursor.peek(10)).readUInt8(9));
    } else throw mismatch("The GIF is cut off or broken.");
    await skipSubBlocks(cursor);
  }
  await checkNothingAfter(bytes, cursor.at + 1, "GIF");
};

const JPEG_SCAN = 0xda;
const JPEG_END = Buffer.from([0xff, 0xd9]);

/** Checks a JPEG. Data after its end is allowed: phones store previews and notes there. */
export const checkJpeg: Format = async (bytes) => {
  const cursor = createCursor(bytes, "JPEG");
  cursor.at = 2;
  for (let marker = 0; marker !== JPEG_SCAN;) {
    const head = await cursor.peek(4);
    marker = head.readUInt8(1);
    if (head.readUInt8(0) !== 0xff) throw mismatch("The JPEG is cut off or broken.");
    cursor.at += marker === 0xff ? 1 : 2 + head.readUInt16BE(2);
  }
  let last = Buffer.alloc(0);
  for await (const piece of bytes.pieces(cursor.at)) {
    if (Buffer.concat([last, piece.subarray(0, 1)]).equals(JPEG_END)) return;
    if (piece.includes(JPEG_END)) return;
    last = Buffer.from(piece.subarray(-1));
  }
  throw mismatch("The JPEG is cut off or broken.");
};
