import { sql } from "kysely";
import type { SearchIndex } from "../dialect.ts";

const TRIPLES = "search_triples";

// Per tenant, so that the rows of others cost nothing. The cost makes the planner prefer the index to calls per row.
const FUNCTION = sql`create or replace function ${sql.table(TRIPLES)}(tenant text, value text)
  returns text[] language sql immutable parallel safe cost 1000 as $$
    select coalesce(array_agg(distinct tenant || ':' || substr(value, place, 3)), '{}')
    from generate_series(1, length(value) - 2) as place $$`;

// Rows that a page of a list reads anyway. A query of the index that counts its rows reads all of them first.
const SAMPLE = 1000;
const MOST_IN_SAMPLE = 50;

export const searchIndex: SearchIndex = {
  async create(db, { table }) {
    await FUNCTION.execute(db);
    await sql`create index ${sql.ref(`${table}_triples`)} on ${sql.table(table)}
      using gin (${sql.table(TRIPLES)}(tenant_id, search_text))`.execute(db);
  },

  // The database removes a row from its index.
  async addRemoval() {},

  async findTriples(db, { table, key }, { tenantId, triples, holds }) {
    const { rows } = await sql<{ found: number }>`select count(*) as found from (
      select search_text from ${sql.table(table)} where tenant_id = ${tenantId}
      order by ${sql.ref(key)} limit ${SAMPLE}) as sample where ${holds}`.execute(db);
    if ((rows[0]?.found ?? 0) > MOST_IN_SAMPLE) return undefined;
    const sought = triples.map((triple) => `${tenantId}:${triple}`);
    return sql<boolean>`${sql.table(TRIPLES)}(tenant_id, search_text) @> cast(${sought} as text[])`;
  },
};
