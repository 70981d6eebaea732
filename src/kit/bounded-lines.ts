const NEWLINE = 10;

/** A line is longer than it may be. */
export class LineTooLong extends Error {
  constructor(maxBytes: number) {
    super(`a line is longer than ${maxBytes} bytes`);
    this.name = "LineTooLong";
  }
}

/**
 * Yields the lines of a stream, without line feeds and in bounded memory. Bytes that are no UTF-8 become U+FFFD, unless
 * `fatal` refuses them.
 *
 * @throws {LineTooLong}
 * @throws {TypeError} with `fatal`, for bytes that are no UTF-8
 */
export async function* readBoundedLines(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
  { fatal = false }: { fatal?: boolean } = {},
): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal, ignoreBOM: true });
  let held: Uint8Array[] = [];
  let size = 0;
  const hold = (part: Uint8Array): void => {
    held.push(part);
    size += part.length;
    if (size > maxBytes) throw new LineTooLong(maxBytes);
  };
  const take = (): string => {
    const line = decoder.decode(Buffer.concat(held));
    held = [];
    size = 0;
    return line;
  };
  for await (const chunk of bytes) {
    let from = 0;
    for (;;) {
      const to = chunk.indexOf(NEWLINE, from);
      if (to === -1) break;
      hold(chunk.subarray(from, to));
      yield take();
      from = to + 1;
    }
    if (from < chunk.length) hold(chunk.subarray(from));
  }
  if (size > 0) yield take();
}
