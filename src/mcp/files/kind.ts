import type { ReadableType } from "./port.ts";

/** The form in which a file is shown: text, a picture, or none. */
export type Kind = { as: "text"; type: ReadableType } | { as: "picture" } | { as: "nothing" };

const BY_EXTENSION: Readonly<Record<string, ReadableType>> = {
  pdf: ".pdf",
  docx: ".docx",
  xlsx: ".xlsx",
  eml: ".eml",
  rtf: ".rtf",
  txt: ".txt",
  csv: ".csv",
  zip: ".zip",
  html: ".html",
  htm: ".html",
};

const BY_MIME_TYPE: Readonly<Record<string, ReadableType>> = {
  "application/pdf": ".pdf",
  "message/rfc822": ".eml",
  "application/rtf": ".rtf",
  "text/rtf": ".rtf",
  "text/csv": ".csv",
  "text/html": ".html",
  "application/zip": ".zip",
};

const PICTURES = new Set(["png", "jpeg", "jpg", "gif"]);

/** Returns the form in which a file is shown, by the extension of its name, otherwise by its content type. */
export const kindOf = (fileName: string, mimeType: string): Kind => {
  const extension = /\.([a-z]{1,8})$/i.exec(fileName)?.[1]?.toLowerCase() ?? "";
  if (PICTURES.has(extension)) return { as: "picture" };
  const fallback = mimeType.startsWith("text/") ? ".txt" : undefined;
  const type = BY_EXTENSION[extension] ?? BY_MIME_TYPE[mimeType] ?? fallback;
  return type === undefined ? { as: "nothing" } : { as: "text", type };
};

/** Hosts refuse a whole conversation for a picture with more pixels on a side. */
const MAX_SIDE = 8000;

type Size = { mimeType: string; width: number; height: number };

const startsWith = (bytes: Buffer, ...first: number[]): boolean =>
  first.every((value, index) => bytes[index] === value);

const JPEG_MARKER = 0xff;
// The markers of a frame's start are C0 to CF, except those of tables and of an unused code.
const NO_FRAMES: readonly number[] = [0xc4, 0xc8, 0xcc];
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.includes(marker);

const jpegSize = (bytes: Buffer): Size | undefined => {
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === JPEG_MARKER) {
    const marker = bytes[at + 1] ?? 0;
    if (isFrame(marker)) {
      const [height, width] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)];
      return { mimeType: "image/jpeg", width, height };
    }
    at += marker === JPEG_MARKER ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
};

const sizeOf = (bytes: Buffer): Size | undefined => {
  if (startsWith(bytes, 0x89, 0x50, 0x4e, 0x47) && bytes.length > 24) {
    const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
    return { mimeType: "image/png", width, height };
  }
  if (startsWith(bytes, 0x47, 0x49, 0x46, 0x38) && bytes.length > 10) {
    const [width, height] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
    return { mimeType: "image/gif", width, height };
  }
  return startsWith(bytes, 0xff, 0xd8) ? jpegSize(bytes) : undefined;
};

/** Returns the content type of a picture by its bytes, or the reason against showing it: hosts trust the stated type. */
export const checkPicture = (bytes: Uint8Array): { mimeType: string } | { unreadable: string } => {
  const size = sizeOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (size === undefined || size.width === 0 || size.height === 0) {
    return { unreadable: "The file is damaged, or it is no PNG, JPEG or GIF." };
  }
  const { mimeType, width, height } = size;
  if (Math.max(width, height) <= MAX_SIDE) return { mimeType };
  return { unreadable: `The picture has ${width} × ${height} pixels; ${MAX_SIDE} are shown.` };
};
