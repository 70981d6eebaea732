import { pipeline, Readable } from "node:stream";
import { constants, createInflate } from "node:zlib";
import type { Bytes } from "../bytes.ts";
import { type Format, mismatch, type Nest } from "../nest.ts";
import { Refusal } from "../port.ts";
import {
  type Look,
  lookForMalware,
  lookForPrograms,
  lookThrough,
  overlapping,
} from "../signatures.ts";

const HEAD = "%PDF-";
const END = "%%EOF";
// Readers look for the end in the last KiB, so that is where it has to be.
const TAIL_BYTES = 1024;
const MAX_STREAMS = 100_000;

/** A name as PDF lets it be written: each character itself or # and its number. */
const nameOf = (word: string): RegExp => {
  const characters = [...word].map((character) => {
    const code = character.charCodeAt(0).toString(16);
    return `(?:${character}|#${code.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)})`;
  });
  return new RegExp(`/${characters.join("")}(?![A-Za-z0-9_#-])`);
};

const SCRIPT = nameOf("JavaScript");
const LAUNCH = nameOf("Launch");

// Forms that compute and buttons that start programs are how a PDF attacks its reader. Embedded files
// are not refused: electronic invoices carry their data in one.
const lookForActions: Look = (text) => {
  if (SCRIPT.test(text)) {
    throw mismatch("The PDF runs scripts. Print it to a new PDF, and attach that.");
  }
  if (LAUNCH.test(text)) {
    throw mismatch("The PDF starts programs. Print it to a new PDF, and attach that.");
  }
};

const LOOKS = [lookForMalware, lookForPrograms, lookForActions];

const isInflateError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && String(error.code).startsWith("Z_");

/** Unpacks what begins at a place, and tells at its end how many bytes that took. */
async function* inflated(
  bytes: Bytes,
  at: number,
  nest: Nest,
  took: (count: number) => void,
): AsyncGenerator<Buffer> {
  const inflate = createInflate({ finishFlush: constants.Z_SYNC_FLUSH });
  const source = Readable.from(bytes.pieces(at));
  pipeline(source, inflate, () => {});
  try {
    for await (const piece of inflate as AsyncIterable<Buffer>) {
      nest.budget.bytes(piece.byteLength);
      yield piece;
    }
  } catch (error) {
    // What cannot be unpacked to its end is looked at as far as it goes.
    if (!isInflateError(error)) throw error;
  } finally {
    source.destroy();
    inflate.destroy();
  }
  took(inflate.bytesWritten);
}

/** Where streams begin that are compressed in the usual way, whatever their dictionaries say. */
async function* compressedStreams(bytes: Bytes): AsyncGenerator<number> {
  let at = 0;
  let last = -1;
  for await (const { text, before } of overlapping(bytes.pieces())) {
    for (const { index, 0: word } of text.matchAll(/stream\r?\n?/g)) {
      const start = index + word.length;
      const place = at - before + start;
      const header = text.charCodeAt(start) * 256 + text.charCodeAt(start + 1);
      const isDeflate = (text.charCodeAt(start) & 0x0f) === 8 && header % 31 === 0;
      if (place <= last || !isDeflate) continue;
      last = place;
      yield place;
    }
    at += text.length - before;
  }
}

/** Parts lie beside each other; those that overlap would be unpacked over and over. */
const readsOnce = (size: number): ((count: number) => void) => {
  let streams = 0;
  let read = 0;
  return (count) => {
    streams += 1;
    read += count;
    if (streams > MAX_STREAMS || read > size * 2) {
      throw new Refusal("ARCHIVE_LIMIT", "The PDF has too many compressed parts.");
    }
  };
};

export const checkPdf: Format = async (bytes, nest) => {
  const head = await bytes.read(0, HEAD.length);
  if (head.toString("latin1") !== HEAD) throw mismatch("The file does not begin like a PDF.");
  const tail = await bytes.read(Math.max(0, bytes.size - TAIL_BYTES), TAIL_BYTES);
  if (!tail.includes(END)) throw mismatch("The PDF is cut off: it has no end.");
  await lookThrough(bytes.pieces(), [lookForActions]);
  const took = readsOnce(bytes.size);
  for await (const place of compressedStreams(bytes)) {
    await lookThrough(inflated(bytes, place, nest, took), LOOKS);
  }
};
