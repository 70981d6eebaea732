import { listTables } from "../support/tables.ts";
import type { Db, Store } from "../../src/platform/store/port.ts";

// Tables of uses and counts, which a refused request may change.
const USES = ["sessions", "counters", "audit_logs", "audit_heads", "touches"];
// A server's background work signs heads and deletes old addresses at times of its own.
const BACKGROUND = ["evidence_heads", "known_addresses"];
const BESIDE = new Set([...USES, ...BACKGROUND]);
// The search index of SQLite: tables of its own, which cannot be read as rows.
const SEARCH = /_triples/;
// When a credential was last used is written a moment after its use.
const LATE = new Set(["used_at"]);

/** The tables of records: a refused request must leave them as they are. */
export const recordTables = async (db: Db): Promise<string[]> => {
  const tables = await listTables(db);
  return tables.map(({ name }) => name).filter((name) => !BESIDE.has(name) && !SEARCH.test(name));
};

/** The rows of every record, or of these tables. */
export const dump = async (
  { read }: Pick<Store, "read">,
  tables?: readonly string[],
): Promise<Map<string, string[]>> => {
  const found = new Map<string, string[]>();
  for (const name of tables ?? (await recordTables(read))) {
    const rows = await read
      .selectFrom(name as "disputes")
      .selectAll()
      .execute();
    const lines = rows.map((row) =>
      JSON.stringify(row, (key, value: unknown) => (LATE.has(key) ? 0 : value)),
    );
    found.set(name, lines.toSorted());
  }
  return found;
};
