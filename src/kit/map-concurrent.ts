/**
 * Maps items with up to `count` running at a time and yields the results in input order.
 * It waits for the running ones before it ends, also after an error or an early return.
 */
export async function* mapConcurrent<In, Out>(
  items: AsyncIterable<In> | Iterable<In>,
  count: number,
  map: (item: In) => Promise<Out>,
): AsyncGenerator<Out, void, undefined> {
  const running: Promise<Out>[] = [];
  try {
    for await (const item of items) {
      const result = map(item);
      // The failure is reported where the result is awaited; this keeps it from being "unhandled" before.
      result.catch(() => {});
      running.push(result);
      if (running.length < count) continue;
      const oldest = running.shift();
      if (oldest !== undefined) yield await oldest;
    }
    for (const result of running) yield await result;
  } finally {
    await Promise.allSettled(running);
  }
}
