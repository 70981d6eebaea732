import { DatabaseSync } from "node:sqlite";

/** Counts occurrences of keys. Counts that do not fit in memory go to a temporary file. */
export const createOccurrences = () => {
  // An empty name is a temporary database that SQLite deletes when it is closed.
  const database = new DatabaseSync("");
  database.exec("pragma journal_mode = off");
  database.exec("pragma temp_store = file");
  database.exec("create table met (key text primary key, count integer not null) without rowid");
  database.exec("begin");
  const meet = database.prepare(
    "insert into met values (?, 1) on conflict do update set count = count + 1 returning count",
  );
  return {
    /** Counts one occurrence and returns the count so far, 1 for the first. */
    count: (key: string): number => Number(meet.get(key)?.["count"]),
    close: () => database.close(),
  };
};
