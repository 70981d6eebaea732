/** A body's bytes as they come. What is lost on the way is the sender's, and no fault of the store's: `cutOff` refuses it. */
export async function* arriving(
  body: ReadableStream<Uint8Array>,
  cutOff: () => never,
): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { done, value } = await pieces.next().catch(cutOff);
      if (done === true) return;
      yield value;
    }
  } finally {
    await pieces.return?.().catch(() => {});
  }
}
