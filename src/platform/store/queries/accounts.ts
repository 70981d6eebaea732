import { sql } from "kysely";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { selectBelow } from "./families.ts";
import { prepareFind } from "../engine/prepared.ts";
import { findText } from "../engine/search.ts";
import { createUpsert } from "../engine/bulk-writes.ts";
import { createFindAmong, ofTenant, rowsOfTenant } from "../engine/rows.ts";

export const ACCOUNT_SEARCH = { table: "accounts", key: "account_number" } as const;

export const findAccount = prepareFind((db: Db, tenantId: string, number: string) =>
  rowsOfTenant(db, "accounts", tenantId).where("account_number", "=", number),
);

/** Finds several accounts at once, for imports. */
export const findAccounts = createFindAmong("accounts", "account_number");

/** Finds the accounts that have one of the names, in any letter case. */
export const findAccountsNamed = (db: Db, tenantId: string, names: readonly string[]) =>
  ofTenant(db, "accounts", tenantId)
    .select(["account_number", "name_folded"])
    .where(getDialect(db).isAmongKeys("name_folded", names))
    .execute();

export type AccountFilter = {
  search?: string | undefined;
  group?: string | undefined;
  parentNumber?: string | undefined;
  /** The account itself and everything below it. */
  familyOf?: string | undefined;
};

/** Finds the first `most` numbers of accounts that match a filter and follow a number, ascending. */
export const findAccountNumbers = async (
  db: Db,
  tenantId: string,
  { search, group, parentNumber, familyOf }: AccountFilter,
  { after, most }: { after: string | undefined; most: number },
): Promise<string[]> => {
  let query = ofTenant(db, "accounts", tenantId)
    .select("account_number")
    .orderBy("account_number")
    .limit(most);
  if (group !== undefined) query = query.where("account_group", "=", group);
  if (parentNumber !== undefined) query = query.where("parent_account_number", "=", parentNumber);
  if (familyOf !== undefined) {
    query = query.where(sql<boolean>`account_number in (${selectBelow(db, tenantId, [familyOf])})`);
  }
  if (after !== undefined) query = query.where("account_number", ">", after);
  if (search !== undefined) {
    query = query.where(await findText(db, ACCOUNT_SEARCH, tenantId, search));
  }
  return (await query.execute()).map((row) => row.account_number);
};

const parentByNumber = prepareFind((db: Db, tenantId: string, number: string) =>
  ofTenant(db, "accounts", tenantId)
    .select("parent_account_number")
    .where("account_number", "=", number),
);

/** Finds an account's parent; undefined if the account does not exist. */
export const findParentNumber = async (db: Db, tenantId: string, number: string) =>
  (await parentByNumber(db, tenantId, number))?.parent_account_number;

/** Finds the children of several accounts, `limit` at most. */
export const findChildNumbers = async (
  db: Db,
  tenantId: string,
  numbers: readonly string[],
  limit: number,
): Promise<string[]> => {
  const rows = await ofTenant(db, "accounts", tenantId)
    .select("account_number")
    .where(getDialect(db).isAmongKeys("parent_account_number", numbers))
    .limit(limit)
    .execute();
  return rows.map(({ account_number }) => account_number);
};

/** Finds those of several accounts that have children. */
export const findParentsAmong = async (
  db: Db,
  tenantId: string,
  numbers: readonly string[],
): Promise<Set<string | null>> => {
  const rows = await ofTenant(db, "accounts", tenantId)
    .select("parent_account_number")
    .distinct()
    .where(getDialect(db).isAmongKeys("parent_account_number", numbers))
    .execute();
  return new Set(rows.map(({ parent_account_number }) => parent_account_number));
};

/** Inserts or replaces complete accounts; no two may have the same number. */
export const putAccounts = createUpsert("accounts", ["tenant_id", "account_number"]);
