import { isUtf8 } from "node:buffer";
import type { Fault } from "../../contract/errors.ts";

/** One line of a file, counted from 1. */
export type Line = { number: number; text: string; fault?: Omit<Fault, "field"> };

export const MAX_LINE_BYTES = 1024 * 1024;
const SHOWN_BYTES = 1000;
const NEWLINE = 10;

const ENCODING = { code: "encoding", message: "is not UTF-8 text" };
const TOO_LONG = { code: "too_long", message: `is longer than ${MAX_LINE_BYTES} bytes` };

const toLine = (number: number, bytes: Buffer): Line =>
  isUtf8(bytes)
    ? { number, text: bytes.toString() }
    : { number, text: bytes.toString(), fault: ENCODING };

// Splits before decoding, so that invalid UTF-8 affects its own line only.
function* splitInvalidBlock(block: Buffer, first: number): Generator<Line> {
  let number = first;
  let from = 0;
  while (from < block.length) {
    const found = block.indexOf(NEWLINE, from);
    const to = found === -1 ? block.length : found;
    yield toLine(number, block.subarray(from, to));
    number += 1;
    from = to + 1;
  }
}

const stripByteOrderMark = (lines: Line[]): Line[] => {
  const [first] = lines;
  if (first?.number !== 1 || !first.text.startsWith("\uFEFF")) return lines;
  return [{ ...first, text: first.text.slice(1) }, ...lines.slice(1)];
};

const splitBlock = (block: Buffer, first: number): Line[] => {
  if (!isUtf8(block)) return stripByteOrderMark([...splitInvalidBlock(block, first)]);
  const texts = block.toString().split("\n");
  if (texts.at(-1) === "") texts.pop();
  return stripByteOrderMark(texts.map((text, place) => ({ number: first + place, text })));
};

/** Yields the lines of a stream in groups, without line feeds. A line over the size limit is cut and marked. */
export async function* readLines(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Line[], void, undefined> {
  let next = 1;
  let held: Uint8Array[] = [];
  let size = 0;
  let dropping = false;
  for await (const chunk of bytes) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    const start = dropping ? chunk.indexOf(NEWLINE) + 1 : 0;
    if (end > 0) {
      const lines = splitBlock(Buffer.concat([...held, chunk.subarray(start, end)]), next);
      next += lines.length;
      held = [];
      size = 0;
      dropping = false;
      if (lines.length > 0) yield lines;
    }
    if (dropping) continue;
    held.push(chunk.subarray(end));
    size += chunk.length - end;
    if (size <= MAX_LINE_BYTES) continue;
    const text = Buffer.concat(held).subarray(0, SHOWN_BYTES).toString();
    held = [];
    size = 0;
    dropping = true;
    yield [{ number: next, text, fault: TOO_LONG }];
    next += 1;
  }
  if (size > 0) yield splitBlock(Buffer.concat(held), next);
}
