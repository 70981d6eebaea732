import { type RawBuilder, sql } from "kysely";
import { createTopSearch, type FamilyFilters } from "../../../contract/insights/families.ts";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { findSpellings } from "./spellings.ts";

type Expression = RawBuilder<unknown>;

/**
 * Selects `member` and `top` of the accounts below an account without a parent, whether it exists or not. Each account
 * has one parent, so the recursion meets each once; it never enters a circle.
 */
const selectTrees = (tenantId: string): Expression => sql`
  with recursive below (member, top) as (
    select c.account_number, c.parent_account_number from accounts as c
      left join accounts as p on p.tenant_id = c.tenant_id and p.account_number = c.parent_account_number
      where c.tenant_id = ${tenantId} and c.parent_account_number is not null
      and p.parent_account_number is null
    union all
    select c.account_number, b.top from below as b
      join accounts as c on c.tenant_id = ${tenantId} and c.parent_account_number = b.member)
  select member, top from below`;

/** More accounts in circles, which changes and imports refuse, count as their own. */
const MOST_IN_CIRCLES = 10_000;

type Pair = { member: string; parent: string };

/** The topmost parents of the accounts in and below circles, by number. */
export type Circles = readonly (readonly [member: string, top: string])[];

/** Finds the accounts whose parents lead in a circle. */
export const findCircles = async (db: Db, tenantId: string): Promise<Circles> => {
  const { rows } = await sql<Pair>`
    select account_number as member, parent_account_number as parent from accounts
    where tenant_id = ${tenantId} and parent_account_number is not null and account_number not in (
      select member from (${selectTrees(tenantId)}) as trees)
    order by account_number limit ${MOST_IN_CIRCLES}`.execute(db);
  const parents = new Map(rows.map(({ member, parent }) => [member, parent]));
  const findTop = createTopSearch((number) => parents.get(number));
  return rows.map(({ member }) => [member, findTop(member)] as const);
};

/** The digits of a length before a text: numbers of accounts are shorter than 1,000 characters. */
const LENGTH_DIGITS = 3;

/** Selects `member` and `top` of pairs, which are one parameter. */
const selectPairs = (db: Db, pairs: Circles): Expression => {
  const lines = pairs.map(([member, top]) => {
    const length = String([...member].length).padStart(LENGTH_DIGITS, "0");
    return `${length}${member}${top}`;
  });
  const length = sql`cast(substr(value, 1, ${sql.lit(LENGTH_DIGITS)}) as integer)`;
  return sql`select substr(value, ${sql.lit(LENGTH_DIGITS + 1)}, ${length}) as member,
    substr(value, ${length} + ${sql.lit(LENGTH_DIGITS + 1)}) as top
    from (${getDialect(db).unnest(lines)}) as listed`;
};

/** Selects `member` and `top` of every account that has a parent. */
const selectTops = (db: Db, tenantId: string, circles: Circles): Expression => {
  const trees = sql`select member, top from (${selectTrees(tenantId)}) as trees`;
  return circles.length === 0 ? trees : sql`${trees} union all ${selectPairs(db, circles)}`;
};

type Families = { db: Db; tenantId: string; groupBy: readonly string[] };

/**
 * Returns a join, as `family`, with the topmost parents of the accounts of records whose alias is `d`; nothing if they
 * are not grouped by parent.
 */
export const joinFamilies = async ({ db, tenantId, groupBy }: Families): Promise<Expression> => {
  if (!groupBy.includes("parent")) return sql``;
  const circles = await findCircles(db, tenantId);
  return sql`left join (${selectTops(db, tenantId, circles)}) as family
    on family.member = d.account_number`;
};

/** The groupings by what a record's account belongs to; the record's alias is `d`, and {@link joinFamilies} joined. */
export const FAMILY_KEYS = {
  parent: sql`coalesce(family.top, d.account_number)`,
  accountGroup: sql`(select held.account_group from accounts as held
    where held.tenant_id = d.tenant_id and held.account_number = d.account_number)`,
} as const;

/** The credit limit of an account with an alias; null if it has none. */
export const readCreditLimit = (db: Db, alias: string): Expression =>
  sql`cast(${getDialect(db).readJsonMember(`${alias}.fields`, "credit_limit")} as double precision)`;

/**
 * Selects `member` and `holder` of accounts: the topmost account, itself or above it, that has a credit limit. Of a
 * circle, the account with the smallest number comes first. Accounts without one are left out.
 */
export const selectLimitHolders = (db: Db, tenantId: string, circles: Circles): Expression => {
  const own = sql`case when ${readCreditLimit(db, "c")} is not null then c.account_number end`;
  const trees = sql`
    with recursive below (member, holder) as (
      select c.account_number, ${own} from accounts as c
        left join accounts as p on p.tenant_id = c.tenant_id and p.account_number = c.parent_account_number
        where c.tenant_id = ${tenantId} and p.account_number is null
      union all
      select c.account_number, coalesce(b.holder, ${own}) from below as b
        join accounts as c on c.tenant_id = ${tenantId} and c.parent_account_number = b.member)
    select member, holder from below where holder is not null`;
  if (circles.length === 0) return trees;
  const holder = sql`coalesce(t.account_number, m.account_number)`;
  return sql`select member, holder from (${trees}) as trees union all
    select p.member, ${holder} as holder from (${selectPairs(db, circles)}) as p
    left join accounts as t on t.tenant_id = ${tenantId} and t.account_number = p.top
      and ${readCreditLimit(db, "t")} is not null
    left join accounts as m on m.tenant_id = ${tenantId} and m.account_number = p.member
      and ${readCreditLimit(db, "m")} is not null
    where ${holder} is not null`;
};

/** Selects the numbers of accounts and of everything below them; a number met twice, as in a circle, is read once. */
export const selectBelow = (db: Db, tenantId: string, numbers: readonly string[]): Expression => {
  const given = sql`select value from (${getDialect(db).unnest([...numbers])}) as given`;
  return sql`
    with recursive below (number) as (
      select account_number from accounts
        where tenant_id = ${tenantId} and parent_account_number in (${given})
      union
      select c.account_number from below as b
        join accounts as c on c.tenant_id = ${tenantId} and c.parent_account_number = b.number)
    select number from below union all ${given}`;
};

const findAccountSpellings = async (
  db: Db,
  tenantId: string,
  columns: readonly ("account_number" | "parent_account_number" | "account_group")[],
  values: readonly string[],
): Promise<string[]> => {
  const found = new Set(values);
  for (const column of columns) {
    const target = { table: "accounts", column, tenantId } as const;
    for (const one of await findSpellings(db, target, values)) found.add(one);
  }
  return [...found];
};

/** Returns the conditions of records, whose alias is `d`, on what their accounts belong to, letter case ignored. */
export const matchFamilies = async (
  db: Db,
  tenantId: string,
  { parentAccountNumber: parents, accountGroup: groups }: FamilyFilters,
): Promise<RawBuilder<boolean>[]> => {
  const conditions: RawBuilder<boolean>[] = [];
  if (parents !== undefined) {
    const columns = ["account_number", "parent_account_number"] as const;
    const numbers = await findAccountSpellings(db, tenantId, columns, parents);
    conditions.push(sql`d.account_number in (${selectBelow(db, tenantId, numbers)})`);
  }
  if (groups !== undefined) {
    const names = await findAccountSpellings(db, tenantId, ["account_group"], groups);
    conditions.push(sql`d.account_number in (select account_number from accounts
      where tenant_id = ${tenantId} and ${getDialect(db).isAmong("account_group", names)})`);
  }
  return conditions;
};
