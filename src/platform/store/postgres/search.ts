import { sql } from "kysely";
import type { SearchIndex } from "../dialect.ts";

const TRIPLES = "search_triples";

// Per tenant, so that the rows of others cost nothing. The cost makes the planner prefer the index to calls per row.
const FUNCTION = sql`create or replace function ${sql.table(TRIPLES)}(tenant text, value text)
  returns text[] language sql immutable parallel safe cost 1000 as $$
    select coalesce(array_agg(distinct tenant || ':' || substr(value, place, 3)), '{}')
    from generate_series(1, length(value) - 2) as place $$`;

export const searchIndex: SearchIndex = {
  async create(db, { table }) {
    await FUNCTION.execute(db);
    await sql`create index ${sql.ref(`${table}_triples`)} on ${sql.table(table)}
      using gin (${sql.table(TRIPLES)}(tenant_id, search_text))`.execute(db);
  },

  // The database removes a row from its index.
  async addRemoval() {},

  async findTriples(db, { table }, { tenantId, triples, most }) {
    const sought = triples.map((triple) => `${tenantId}:${triple}`);
    const matches = sql<boolean>`${sql.table(TRIPLES)}(tenant_id, search_text) @> cast(${sought} as text[])`;
    const { rows } = await sql<{ count: number }>`select count(*) as count from (
      select 1 from ${sql.table(table)} where ${matches} limit ${most + 1}) as found`.execute(db);
    return (rows[0]?.count ?? 0) > most ? undefined : matches;
  },
};
