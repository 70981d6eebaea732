import { openTemporary } from "./temporary.ts";

const MOST_IN_MEMORY = 100_000;

const openFile = () => {
  const database = openTemporary(
    "met (key text primary key, count integer not null) without rowid",
  );
  const meet = database.prepare(
    "insert into met values (?, 1) on conflict do update set count = count + 1 returning count",
  );
  return {
    count: (key: string): number => Number(meet.get(key)?.["count"]),
    close: (): void => database.close(),
  };
};

/** Counts occurrences of keys. Keys that do not fit in memory go to a temporary file. */
export const createOccurrences = () => {
  const memory = new Map<string, number>();
  let file: ReturnType<typeof openFile> | undefined;
  return {
    /** Counts one occurrence and returns the count so far, 1 for the first. */
    count(key: string): number {
      const known = memory.get(key) ?? 0;
      if (known === 0 && memory.size >= MOST_IN_MEMORY) return (file ??= openFile()).count(key);
      memory.set(key, known + 1);
      return known + 1;
    },
    close: (): void => file?.close(),
  };
};
