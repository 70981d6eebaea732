/** Yields a request body. An aborted upload is the client's fault, not an outage of the store: `cutOff` refuses it. */
export async function* readArriving(
  body: ReadableStream<Uint8Array>,
  cutOff: () => never,
): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await pieces.next().catch(cutOff);
      if (done === true) return;
      yield value;
    }
  } finally {
    await pieces.return?.().catch(() => {});
  }
}
