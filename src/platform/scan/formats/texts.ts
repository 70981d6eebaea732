import type { Bytes } from "../bytes.ts";
import { type Format, mismatch } from "../nest.ts";
import { lookForMalware } from "../signatures.ts";

// Text of older programs is in one of many code pages; what it never holds are these.
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\0-\x07\x0e-\x19\x1c-\x1f\x7f]/;
// What a browser or a shell would take for its own, were the name not looked at.
const OTHERS =
  /^(?:\xef\xbb\xbf)?\s*(?:<!--|<!doctype html|<\?php|#!|%pdf-|%!ps|\{\\rtf|<(?:html|head|script|iframe|body|style|title|meta|svg)[\s>])/i;
// Readers of PDF look for it in the first KiB, whatever stands before.
const PDF = /%PDF-\d\.\d/;
const HEAD_BYTES = 1024;

/** The name of the encoding that a byte order mark tells of. */
const wideEncoding = (head: Buffer): "utf-16le" | "utf-16be" | undefined => {
  if (head.byteLength < 2) return undefined;
  const mark = head.readUInt16BE(0);
  if (mark === 0xfffe) return "utf-16le";
  return mark === 0xfeff ? "utf-16be" : undefined;
};

/** UTF-8, UTF-16 with a mark, or eight bits a character; no binary data. */
const checkPlain = async (bytes: Bytes, head: Buffer): Promise<void> => {
  const wide = wideEncoding(head);
  const decoder = new TextDecoder(wide ?? "latin1", { fatal: true });
  const decoded = (piece?: Buffer): string => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      throw mismatch("The text is not in the encoding that it names.");
    }
  };
  for await (const piece of bytes.pieces()) {
    const text = decoded(piece);
    if (UNPRINTABLE.test(text)) throw mismatch("The file is no plain text.");
    if (wide !== undefined) lookForMalware(text);
  }
  decoded();
};

export const checkText: Format = async (bytes) => {
  const head = await bytes.read(0, HEAD_BYTES);
  const text = head.toString("latin1");
  if (OTHERS.test(text) || PDF.test(text)) throw mismatch("The file is no plain text.");
  await checkPlain(bytes, head);
};
