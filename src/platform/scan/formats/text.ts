import { type Format, mismatch } from "../scan-context.ts";
import { detectMalware } from "../signatures.ts";

// Beginnings that a browser, a shell or a reader would interpret if it ignored the file's name.
const OTHERS =
  /^(?:\xef\xbb\xbf)?\s{0,4000}(?:<!--|<!doctype html|<\?php|#!|%!ps|\{\\rt|<(?:html|head|script|iframe|body|style|title|meta|svg)[\s>])/i;
// PDF readers accept a header anywhere in the first KiB.
const PDF = /%PDF-\d\.\d/;
const HEAD_BYTES = 4096;

const findWideEncoding = (head: Buffer): string | undefined => {
  if (head.byteLength < 2) return undefined;
  const mark = head.readUInt16BE(0);
  if (mark === 0xfffe) return "utf-16le";
  return mark === 0xfeff ? "utf-16be" : undefined;
};

/** Checks a text in UTF-8, UTF-16 with a byte order mark, or an 8-bit code page. */
export const checkText: Format = async (bytes) => {
  const head = await bytes.read(0, HEAD_BYTES);
  const encoding = findWideEncoding(head);
  const begin = new TextDecoder(encoding ?? "latin1").decode(head);
  if (OTHERS.test(begin) || PDF.test(begin.slice(0, 1024))) {
    throw mismatch("The file is a web page, a script or a document, not plain text.");
  }
  const decoder = new TextDecoder(encoding ?? "latin1");
  let before = "";
  for await (const piece of bytes.pieces()) {
    const text = before + decoder.decode(piece, { stream: true });
    if (text.includes("\0")) throw mismatch("The file is not plain text: it holds binary data.");
    detectMalware(text);
    before = text.slice(-100);
  }
};
