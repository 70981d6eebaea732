import { backup, DatabaseSync } from "node:sqlite";
import { BUSY_MS } from "./connection.ts";

/** Checks the pages of a database file. @throws {Error} for a damaged one */
const checkPages = (path: string): void => {
  using database = new DatabaseSync(path, { timeout: BUSY_MS });
  const result = database.prepare("pragma quick_check(1)").get()?.["quick_check"];
  if (result !== "ok") throw new Error(`${path} is damaged: ${String(result)}`);
};

/** Copies a database as it is at one moment, while other processes use it. */
export const copyDatabase = async (from: string, to: string): Promise<void> => {
  using source = new DatabaseSync(from, { timeout: BUSY_MS });
  // Holds one view. Without it the copy would begin again with every commit of another process.
  source.exec("begin");
  source.prepare("select count(*) from sqlite_master").get();
  await backup(source, to);
  checkPages(to);
};

/** Whether no other process has a database file open. */
export const isUnused = (path: string): boolean => {
  using database = new DatabaseSync(path);
  try {
    // Fails while another process has the file open.
    database.exec("pragma journal_mode = delete");
    return true;
  } catch {
    return false;
  }
};
