import { openTemporary } from "./temporary.ts";

/** Creates a list of texts in a temporary file, which ends with `close`. */
export const createSpillList = () => {
  const database = openTemporary("entries (value text not null)");
  const insert = database.prepare("insert into entries values (?)");
  return {
    add: (value: string): unknown => insert.run(value),
    /** Yields the texts in the order of their adding. */
    *read(): Generator<string, void, undefined> {
      const rows = database.prepare("select value from entries order by rowid").iterate();
      for (const row of rows) yield String(row["value"]);
    },
    close: (): void => database.close(),
  };
};
