import { sql } from "kysely";
import type { SearchIndex } from "../engine/dialect.ts";

const TRIPLES = "search_triples";

// Per tenant, so that the rows of others cost nothing. The cost makes the planner prefer the index to calls per row.
const FUNCTION = sql`create or replace function ${sql.table(TRIPLES)}(tenant text, value text)
  returns text[] language sql immutable parallel safe cost 1000 as $$
    select coalesce(array_agg(distinct tenant || ':' || substr(value, place, 3)), '{}')
    from generate_series(1, length(value) - 2) as place $$`;

// Rows that a page of a list reads anyway. A query of the index that counts its rows reads all of them first.
const SAMPLE = 200;
const MOST_IN_SAMPLE = 10;

const MOST_COMPARED = 12;
const MOST_SOUGHT = 3;

type Sample = { found: number; rarest: string[] };

export const searchIndex: SearchIndex = {
  async create(db, { table }) {
    await FUNCTION.execute(db);
    await sql`create index ${sql.ref(`${table}_triples`)} on ${sql.table(table)}
      using gin (${sql.table(TRIPLES)}(tenant_id, search_text))`.execute(db);
  },

  // The database removes a row from its index.
  async addRemoval() {},

  // The index compares every row of the rarest triple with all others, so further ones cost more than they exclude.
  async findTriples(db, { table, key }, { tenantId, triples, holds }) {
    const compared = triples.slice(-MOST_COMPARED);
    const { rows } = await sql<Sample>`with sample as materialized (
        select search_text from ${sql.table(table)} where tenant_id = ${tenantId}
        order by ${sql.ref(key)} limit ${SAMPLE})
      select (select count(*) from sample where ${holds}) as found, array(
        select value from unnest(cast(${compared} as text[])) with ordinality as sought (value, place)
        order by (select count(*) from sample where strpos(search_text, value) > 0), place desc
        limit ${MOST_SOUGHT}) as rarest`.execute(db);
    const [{ found, rarest } = { found: 0, rarest: triples }] = rows;
    if (found > MOST_IN_SAMPLE) return undefined;
    const keys = rarest.map((triple) => `${tenantId}:${triple}`);
    return sql<boolean>`${sql.table(TRIPLES)}(tenant_id, search_text) @> cast(${keys} as text[])`;
  },
};
