import { type Bytes, findWideEncoding } from "../bytes.ts";
import { type Format, mismatch } from "../scan-context.ts";
import { detectMalware } from "../signatures.ts";

// Control characters that no code page uses in text.
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\0-\x07\x0e-\x19\x1c-\x1f\x7f]/;
// Beginnings that a browser or shell would interpret if it ignored the file's name.
const OTHERS =
  /^(?:\xef\xbb\xbf)?\s*(?:<!--|<!doctype html|<\?php|#!|%pdf-|%!ps|\{\\rtf|<(?:html|head|script|iframe|body|style|title|meta|svg)[\s>])/i;
// PDF readers accept a header anywhere in the first KiB.
const PDF = /%PDF-\d\.\d/;
const HEAD_BYTES = 1024;

/** Accepts UTF-8, UTF-16 with a byte order mark and 8-bit code pages; refuses binary data. */
const checkPlain = async (bytes: Bytes, head: Buffer): Promise<void> => {
  const wide = findWideEncoding(head);
  const decoder = new TextDecoder(wide ?? "latin1", { fatal: true });
  const decoded = (piece?: Buffer): string => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      throw mismatch("The text is not valid in the encoding of its byte order mark.");
    }
  };
  for await (const piece of bytes.pieces()) {
    const text = decoded(piece);
    if (UNPRINTABLE.test(text)) throw mismatch("The file is not plain text.");
    if (wide !== undefined) detectMalware(text);
  }
  decoded();
};

export const checkText: Format = async (bytes) => {
  const head = await bytes.read(0, HEAD_BYTES);
  const text = head.toString("latin1");
  if (OTHERS.test(text) || PDF.test(text)) throw mismatch("The file is not plain text.");
  await checkPlain(bytes, head);
};
