import { DatabaseSync } from "node:sqlite";

/** Opens a temporary database with one table, in a file that is deleted when it is closed or the process ends. */
export const openTemporary = (table: string): DatabaseSync => {
  // An empty name is a temporary database.
  const database = new DatabaseSync("");
  database.exec("pragma journal_mode = off");
  database.exec("pragma temp_store = file");
  database.exec(`create table ${table}`);
  database.exec("begin");
  return database;
};
