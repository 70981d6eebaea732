const PIECE_CHARACTERS = 64 * 1024;

/** The JSON of rows with commas between, in pieces that are worth sending. */
export async function* jsonRows(
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
  }
  if (text !== "") yield text;
}

/** The same as bytes. */
export async function* jsonBytes(rows: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of jsonRows(rows)) yield encoder.encode(piece);
}
