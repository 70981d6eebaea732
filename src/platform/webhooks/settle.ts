import type { Db, Store } from "../store/port.ts";
import { LeaseLost } from "../jobs/job.ts";

/** Writes an outcome; it must throw LeaseLost before it writes anything. */
type Write = (tx: Db) => Promise<void>;
type Ending = { write: Write; resolve: () => void; reject: (error: unknown) => void };

/** Writes outcomes that arrive during a transaction together in the next one, because each costs a flush of the disk. */
export const createSettle = (store: Store): ((write: Write) => Promise<void>) => {
  let waiting: Ending[] = [];
  let writing: Promise<void> | undefined;

  const take = (): Ending[] => {
    const batch = waiting;
    waiting = [];
    return batch;
  };

  const writeBatch = async (): Promise<void> => {
    let batch: Ending[] = [];
    const lost = new Map<Ending, LeaseLost>();
    try {
      await store.transaction(async (tx) => {
        batch = take();
        for (const ending of batch) {
          try {
            await ending.write(tx);
          } catch (error) {
            if (!(error instanceof LeaseLost)) throw error;
            lost.set(ending, error);
          }
        }
      });
    } catch (error) {
      for (const { reject } of batch.length === 0 ? take() : batch) reject(error);
      return;
    }
    for (const ending of batch) {
      const error = lost.get(ending);
      if (error === undefined) ending.resolve();
      else ending.reject(error);
    }
  };

  const writeAll = async (): Promise<void> => {
    // Requests that arrive meanwhile become the next batch.
    while (waiting.length > 0) await writeBatch();
    writing = undefined;
  };

  return (write) =>
    new Promise((resolve, reject) => {
      waiting.push({ write, resolve, reject });
      writing ??= writeAll();
    });
};
