import { setImmediate } from "node:timers/promises";

const PIECE_CHARACTERS = 64 * 1024;

/** Serializes rows as JSON separated by commas, in chunks of about 64 KiB. */
export async function* serializeRows(
  rows: AsyncIterable<unknown> | Iterable<unknown>,
): AsyncGenerator<string> {
  let text = "";
  let separator = "";
  for await (const row of rows) {
    text += separator + JSON.stringify(row);
    separator = ",";
    if (text.length < PIECE_CHARACTERS) continue;
    yield text;
    text = "";
    // Others get their turn: a database that reads in this thread awaits nothing that would let them in.
    await setImmediate();
  }
  if (text !== "") yield text;
}

/** Yields the output of {@link serializeRows} as UTF-8. */
export async function* serializeRowsToBytes(
  rows: AsyncIterable<unknown>,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of serializeRows(rows)) yield encoder.encode(piece);
}
