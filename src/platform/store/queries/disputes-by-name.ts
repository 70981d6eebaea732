import { type RawBuilder, sql } from "kysely";
import { ACCOUNT_SEARCH } from "./accounts.ts";
import { findDistinct } from "./distinct-values.ts";
import { hasMoreCharacters } from "../../../kit/text.ts";
import type { Db } from "../port.ts";
import { findText, toLikePattern } from "../engine/search.ts";
import { ofTenant } from "../engine/rows.ts";

type Condition = RawBuilder<boolean>;

export const among = (column: string, values: readonly (string | number)[]): Condition =>
  sql`${sql.ref(column)} in (${sql.join(values)})`;
export const contains = (column: string, text: string): Condition =>
  sql`${sql.ref(column)} like ${toLikePattern(text)} escape '\\'`;

const MOST_NAMED = 1000;

/** A part of an account's name. What has it is undefined if it is too much. */
export type NamePart = {
  text: string;
  /** Accounts. */
  numbers: readonly string[] | undefined;
  /** Names that were imported with disputes. */
  imported?: readonly string[] | undefined;
};

const IMPORTED = { table: "disputes", column: "account_name_folded" };

const upToMost = (values: readonly string[] | undefined): readonly string[] | undefined =>
  values !== undefined && values.length <= MOST_NAMED ? values : undefined;

/** Finds the accounts by the index of their names, so that disputes need not look up their account one by one. */
export const findNamed = async (
  db: Db,
  tenantId: string,
  text: string | undefined,
): Promise<NamePart | undefined> => {
  if (text === undefined) return undefined;
  // The index finds shorter texts at the beginning of names only, and has no line breaks.
  if (!hasMoreCharacters(text, 2) || text.includes("\n")) return { text, numbers: undefined };
  const rows = await ofTenant(db, "accounts", tenantId)
    .select("account_number")
    .where(await findText(db, ACCOUNT_SEARCH, tenantId, text))
    .where(contains("name_folded", text))
    .limit(MOST_NAMED + 1)
    .execute();
  const imported = await findDistinct(
    db,
    { ...IMPORTED, tenantId },
    contains(IMPORTED.column, text),
  );
  return {
    text,
    numbers: upToMost(rows.map(({ account_number }) => account_number)),
    imported: upToMost(imported),
  };
};

const KNOWN = sql`from accounts as known
  where known.tenant_id = d.tenant_id and known.account_number = d.account_number`;

/** A dispute's account has the name; the name that was imported with the dispute counts where there is no such account. */
export const hasAccountName = ({ text, numbers, imported }: NamePart): Condition => {
  if (numbers === undefined) {
    const name = sql`coalesce((select known.name_folded ${KNOWN}), d.account_name_folded)`;
    return sql`${name} like ${toLikePattern(text)} escape '\\'`;
  }
  // In the order of a case: PostgreSQL would look up the account of every dispute without a name.
  const isImported =
    imported === undefined
      ? sql`case when ${contains("d.account_name_folded", text)}
          then not exists (select 1 ${KNOWN}) else false end`
      : sql`(${among("d.account_name_folded", imported)} and not exists (select 1 ${KNOWN}))`;
  const parts = [
    ...(numbers.length === 0 ? [] : [among("d.account_number", numbers)]),
    ...(imported?.length === 0 ? [] : [isImported]),
  ];
  return parts.length === 0 ? sql`1 = 0` : sql`(${sql.join(parts, sql` or `)})`;
};
