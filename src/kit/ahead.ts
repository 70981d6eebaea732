/**
 * What is made of each, in their order; up to `count` are being made at a time, so later ones have begun when an
 * earlier one is given. Nothing is being made any more once this has ended, however it ends.
 */
export async function* ahead<In, Out>(
  given: AsyncIterable<In> | Iterable<In>,
  count: number,
  make: (one: In) => Promise<Out>,
): AsyncGenerator<Out, void, undefined> {
  const begun: Promise<Out>[] = [];
  try {
    for await (const one of given) {
      const made = make(one);
      // Heard where it is awaited; until then its failure is nobody's.
      made.catch(() => {});
      begun.push(made);
      if (begun.length < count) continue;
      const oldest = begun.shift();
      if (oldest !== undefined) yield await oldest;
    }
    for (const made of begun) yield await made;
  } finally {
    await Promise.allSettled(begun);
  }
}
