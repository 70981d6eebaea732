import { Problem } from "../../../contract/errors.ts";
import { readArriving } from "../../files/arriving.ts";

const HEAD = Buffer.from("%PDF-");
const END = Buffer.from("%%EOF");
// PDF readers look for the end marker in the last KiB, so it must be there.
const TAIL_BYTES = 1024;

const refuse = (code: string, message: string): never => {
  throw new Problem("invalid_request", `The body ${message}.`, {
    errors: [{ field: "", code, message }],
  });
};

/** Returns the last `TAIL_BYTES` bytes received so far. */
const keepTail = (tail: Buffer, chunk: Uint8Array): Buffer =>
  chunk.byteLength >= TAIL_BYTES
    ? Buffer.from(chunk.subarray(-TAIL_BYTES))
    : Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);

const cutOff = (): never => refuse("format", "ended before it was whole");

/** Yields a request body, and refuses it as soon as it is not a PDF. */
export async function* readPdf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  for await (const chunk of readArriving(body, cutOff)) {
    if (head.byteLength < HEAD.byteLength) {
      head = Buffer.concat([head, chunk.subarray(0, HEAD.byteLength - head.byteLength)]);
      const isBegun = HEAD.subarray(0, head.byteLength).equals(head);
      if (!isBegun) refuse("format", "must begin with %PDF-");
    }
    tail = keepTail(tail, chunk);
    yield chunk;
  }
  if (head.byteLength === 0) refuse("empty", "must not be empty");
  if (head.byteLength < HEAD.byteLength) refuse("format", "must begin with %PDF-");
  if (!tail.includes(END)) refuse("format", "must end with %%EOF");
}
