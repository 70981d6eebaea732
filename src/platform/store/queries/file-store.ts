import type { Db } from "../port.ts";
import type { FileStoreRow } from "../tables/schema.ts";
import { changeRows } from "../engine/rows.ts";

const NAME = "files";

/** Returns the file store that the database's files are in; undefined before the first start with one. */
export const findFileStore = (db: Db) =>
  db.selectFrom("file_stores").selectAll().where("name", "=", NAME).executeTakeFirst();

/** Records a file store unless one is recorded; returns the recorded one. */
export const insertFileStore = async (tx: Db, id: string): Promise<FileStoreRow> => {
  await tx
    .insertInto("file_stores")
    .values({ name: NAME, id, is_written: 0 })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  return tx
    .selectFrom("file_stores")
    .selectAll()
    .where("name", "=", NAME)
    .executeTakeFirstOrThrow();
};

/** Records that the file store has its id. */
export const confirmFileStore = (tx: Db, id: string) =>
  changeRows(tx, "file_stores", { name: NAME, id }, { is_written: 1 });

/** Records another file store, which has its id. */
export const replaceFileStore = async (tx: Db, id: string): Promise<void> => {
  await tx
    .insertInto("file_stores")
    .values({ name: NAME, id, is_written: 1 })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ id, is_written: 1 }))
    .execute();
};
