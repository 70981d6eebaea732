import { DatabaseSync } from "node:sqlite";

/** How often each key was met so far, however many keys there are: what does not fit in memory goes to a temporary file. */
export const createOccurrences = () => {
  // An empty name is a database of SQLite's own making, gone when it is closed.
  const database = new DatabaseSync("");
  database.exec("pragma journal_mode = off");
  database.exec("pragma temp_store = file");
  database.exec("create table met (key text primary key, count integer not null) without rowid");
  database.exec("begin");
  const meet = database.prepare(
    "insert into met values (?, 1) on conflict do update set count = count + 1 returning count",
  );
  return {
    /** 1 for the first time. */
    count: (key: string): number => Number(meet.get(key)?.["count"]),
    close: () => database.close(),
  };
};
