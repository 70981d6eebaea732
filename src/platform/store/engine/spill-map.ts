import { openTemporary } from "./temporary.ts";

const MOST_IN_MEMORY = 100_000;

const openFile = () => {
  const database = openTemporary(
    "entries (key text primary key, value text not null) without rowid",
  );
  const read = database.prepare("select value from entries where key = ?");
  const write = database.prepare("insert or replace into entries values (?, ?)");
  return {
    get(key: string): string | undefined {
      const value = read.get(key)?.["value"];
      return typeof value === "string" ? value : undefined;
    },
    set: (key: string, value: string): unknown => write.run(key, value),
    close: (): void => database.close(),
  };
};

/** A map of texts. Entries that do not fit in memory go to a temporary file, which ends with `close`. */
export type SpillMap = {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
  close(): void;
};

export const createSpillMap = (): SpillMap => {
  const memory = new Map<string, string>();
  let file: ReturnType<typeof openFile> | undefined;
  return {
    get: (key) => memory.get(key) ?? file?.get(key),
    set(key, value) {
      if (memory.has(key) || memory.size < MOST_IN_MEMORY) memory.set(key, value);
      else (file ??= openFile()).set(key, value);
    },
    close() {
      memory.clear();
      file?.close();
      file = undefined;
    },
  };
};
