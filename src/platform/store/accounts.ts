import type { Db } from "./port.ts";
import { prepared } from "./prepared.ts";
import type { AccountRow } from "./tables.ts";

const accountByNumber = prepared((db: Db, tenantId: string, number: string) =>
  db
    .selectFrom("accounts")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("account_number", "=", number),
);

export const findAccount = async (
  db: Db,
  tenantId: string,
  number: string,
): Promise<AccountRow | undefined> => (await accountByNumber(db, tenantId, number))[0];

/** Several accounts at once, for imports. */
export const findAccounts = (
  db: Db,
  tenantId: string,
  numbers: readonly string[],
): Promise<AccountRow[]> =>
  db
    .selectFrom("accounts")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("account_number", "in", numbers)
    .execute();

const parentByNumber = prepared((db: Db, tenantId: string, number: string) =>
  db
    .selectFrom("accounts")
    .select("parent_account_number")
    .where("tenant_id", "=", tenantId)
    .where("account_number", "=", number),
);

/** An account's parent; undefined where there is no such account. */
export const findParentNumber = async (
  db: Db,
  tenantId: string,
  number: string,
): Promise<string | null | undefined> =>
  (await parentByNumber(db, tenantId, number))[0]?.parent_account_number;

export const insertAccounts = async (tx: Db, rows: readonly AccountRow[]): Promise<void> => {
  if (rows.length > 0) await tx.insertInto("accounts").values(rows).execute();
};

export const updateAccount = async (tx: Db, row: AccountRow): Promise<void> => {
  await tx
    .updateTable("accounts")
    .set(row)
    .where("tenant_id", "=", row.tenant_id)
    .where("account_number", "=", row.account_number)
    .execute();
};
