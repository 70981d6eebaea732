import { type Format, mismatch } from "../scan-context.ts";
import { type Detector, detectMalware, detectPrograms } from "../signatures.ts";
import { runDetectors, toNarrow } from "../signatures.ts";

// Beginnings that a browser, a shell or a reader would interpret if it ignored the file's name.
const OTHERS =
  /^(?:\xef\xbb\xbf)?\s{0,4000}(?:<!--|<!doctype html|<\?php|#!|%!ps|\{\\rt|<(?:html|head|script|iframe|body|style|title|meta|svg)[\s>])/i;
// PDF readers accept a header anywhere in the first KiB.
const PDF = /%PDF-\d\.\d/;
const HEAD_BYTES = 4096;

const WIDE = /^(?:\xff\xfe|\xfe\xff)/;

/** Checks a text in UTF-8, UTF-16 with a byte order mark, or an 8-bit code page. */
export const checkText: Format = async (bytes) => {
  const head = (await bytes.read(0, HEAD_BYTES)).toString("latin1");
  const isWide = WIDE.test(head);
  const begin = isWide ? toNarrow(head).slice(2) : head;
  if (OTHERS.test(begin) || PDF.test(begin.slice(0, 1024))) {
    throw mismatch("The file is a web page, a script or a document, not plain text.");
  }
  const detectBinary: Detector = (text) => {
    if (isWide) detectMalware(toNarrow(text));
    else if (text.includes("\0")) throw mismatch("The file is not text: it holds binary data.");
  };
  await runDetectors(bytes.pieces(), [detectBinary, ...(isWide ? [detectPrograms] : [])]);
};
