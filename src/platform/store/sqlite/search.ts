import { sql } from "kysely";
import type { SearchIndex, SearchTarget } from "../engine/dialect.ts";
import type { Db } from "../port.ts";

/** The full-text index, and the table that gives each row a number: those of other tables can change. */
const namesOf = ({ table, key }: SearchTarget) => ({
  rows: sql.table(table),
  numbers: sql.table(`${table}_numbers`),
  triples: sql.table(`${table}_triples`),
  triplesColumn: sql.ref(`${table}_triples`),
  key: sql.ref(key),
  trigger: (event: string) => sql.table(`${table}_${event}`),
});

const quote = (triple: string): string => `"${triple.replaceAll('"', '""')}"`;

const MOST_COMPARED = 12;
const MOST_SOUGHT = 3;
const SAMPLE = 200;
// Above, all rows are read in the order of the list: among so many, a page is found soon.
const MOST_FOUND = 2000;

/**
 * Finds the rows with the triples that are in the fewest rows. The more often a triple occurs, the lower is the number of
 * the row with its n-th occurrence; without positions, a common one costs a read of all its rows.
 */
const findNumbers = async (db: Db, target: SearchTarget, fragments: readonly string[]) => {
  const { triples, triplesColumn } = namesOf(target);
  const compared = JSON.stringify(fragments.slice(-MOST_COMPARED).map(quote));
  const { rows } = await sql<{ number: number }>`
    with samples as materialized (
      select value, (select json_array(count(*), max(rowid)) from (select rowid from ${triples}
        where ${triplesColumn} match sought.value limit ${SAMPLE})) as sample
      from json_each(${compared}) as sought)
    select rowid as number from ${triples} where ${triplesColumn} match (
      select group_concat(value, ' AND ') from (
        select value from samples order by sample ->> 0, sample ->> 1 desc limit ${MOST_SOUGHT}))
    limit ${MOST_FOUND + 1}`.execute(db);
  return rows.map(({ number }) => number);
};

export const searchIndex: SearchIndex = {
  async create(db, target) {
    const { rows, numbers, triples, triplesColumn, key, trigger } = namesOf(target);
    await sql`create table ${numbers} (
      number integer primary key, tenant_id text not null, ${key} text not null)`.execute(db);
    await sql`create unique index ${trigger("numbers_key")} on ${numbers} (tenant_id, ${key})`.execute(
      db,
    );
    // Without positions and contents: the rows themselves are compared with the search.
    await sql`create virtual table ${triples} using fts5(
      search_text, content = '', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1')`.execute(
      db,
    );
    await sql`insert into ${numbers} (tenant_id, ${key}) select tenant_id, ${key} from ${rows}`.execute(
      db,
    );
    await sql`insert into ${triples} (rowid, search_text) select n.number, r.search_text
      from ${numbers} as n join ${rows} as r using (tenant_id, ${key})`.execute(db);
    const numberOf = (row: string) => sql`(select number from ${numbers}
      where tenant_id = ${sql.ref(`${row}.tenant_id`)} and ${key} = ${sql.ref(`${row}.${target.key}`)})`;
    await sql`create trigger ${trigger("added")} after insert on ${rows} begin
      insert into ${numbers} (tenant_id, ${key}) values (new.tenant_id, ${sql.ref(`new.${target.key}`)});
      insert into ${triples} (rowid, search_text) values (last_insert_rowid(), new.search_text);
    end`.execute(db);
    await sql`create trigger ${trigger("changed")} after update of search_text on ${rows}
      when old.search_text <> new.search_text begin
      insert into ${triples} (${triplesColumn}, rowid, search_text)
        values ('delete', ${numberOf("old")}, old.search_text);
      insert into ${triples} (rowid, search_text) values (${numberOf("new")}, new.search_text);
    end`.execute(db);
  },

  async addRemoval(db, target) {
    const { rows, numbers, triples, triplesColumn, key, trigger } = namesOf(target);
    const isOld = sql`tenant_id = old.tenant_id and ${key} = ${sql.ref(`old.${target.key}`)}`;
    await sql`create trigger ${trigger("removed")} after delete on ${rows} begin
      insert into ${triples} (${triplesColumn}, rowid, search_text)
        select 'delete', number, old.search_text from ${numbers} where ${isOld};
      delete from ${numbers} where ${isOld};
    end`.execute(db);
  },

  async findTriples(db, target, { tenantId, triples }) {
    const { numbers, key } = namesOf(target);
    const found = await findNumbers(db, target, triples);
    if (found.length > MOST_FOUND) return undefined;
    // The plus keeps it from reading all numbers of the tenant.
    return sql<boolean>`${key} in (select ${key} from ${numbers}
      where number in (select value from json_each(${JSON.stringify(found)})) and +tenant_id = ${tenantId})`;
  },
};
