import { sql } from "kysely";
import { createUpsert } from "../engine/bulk-writes.ts";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { rowsOfTenant } from "../engine/rows.ts";

/** Inserts or replaces entries; no two of them may have the same id. */
export const putEntries = createUpsert("payment_entries", ["tenant_id", "id"]);

const selectEntries = (db: Db, tenantId: string) => rowsOfTenant(db, "payment_entries", tenantId);

export const findEntries = (db: Db, tenantId: string, ids: readonly string[]) =>
  selectEntries(db, tenantId).where(getDialect(db).isAmongKeys("id", ids)).execute();

export const findEntriesByReference = (db: Db, tenantId: string, references: readonly string[]) =>
  selectEntries(db, tenantId)
    .where(getDialect(db).isAmongKeys("bank_reference", references))
    .execute();

/** Lists the accounts that entries with a reference of their bank are of. Each is found in the index by the one before. */
export const listAccountsOfEntries = async (db: Db, tenantId: string): Promise<string[]> => {
  const accounts: string[] = [];
  let after = "";
  for (;;) {
    const next = await selectEntries(db, tenantId)
      .clearSelect()
      .select("bank_reference")
      .where("bank_reference", ">", after)
      .orderBy("bank_reference")
      .limit(1)
      .executeTakeFirst();
    const [account] = next?.bank_reference?.split(":") ?? [];
    if (account === undefined) return accounts;
    accounts.push(account);
    // The sign after the one that ends an account.
    after = `${account};`;
  }
};

/** Finds the batches, and the entries of their payments, by the reference of the collection or file. */
export const findEntriesByBatch = (db: Db, tenantId: string, references: readonly string[]) =>
  selectEntries(db, tenantId)
    .where("batch_reference", "is not", null)
    .where(getDialect(db).isAmongKeys("batch_reference", references))
    .execute();

/** Whether there are advices with a reference, which have no account before it. */
export const hasAdvices = async (db: Db, tenantId: string): Promise<boolean> => {
  const row = await selectEntries(db, tenantId)
    .clearSelect()
    .select("id")
    .where("batch_reference", ">=", ":")
    .where("batch_reference", "<", ";")
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

/** Finds the entries of batches of accounts, or of all accounts, between two days. */
export const findBatches = (
  db: Db,
  tenantId: string,
  { accounts, from, to }: { accounts: readonly string[] | undefined; from: string; to: string },
) =>
  selectEntries(db, tenantId)
    .where("part_count", "is not", null)
    .$if(accounts !== undefined, (query) =>
      query.where(getDialect(db).isAmongKeys("account", accounts ?? [])),
    )
    .where("day", ">=", from)
    .where("day", "<=", to)
    .execute();

/** Finds the entries of payments that batches have. */
export const findPartsOf = (db: Db, tenantId: string, ids: readonly string[]) =>
  selectEntries(db, tenantId)
    .where("part_of", "is not", null)
    .where(getDialect(db).isAmongKeys("part_of", ids))
    .execute();

/** The currency and amounts of entries, and the first and last day of each. */
export type AmountRange = {
  currency: string;
  amounts: readonly string[];
  from: string;
  to: string;
};

/** Finds entries with these amounts; each one is found by the index on currency and amount. */
export const findEntriesByAmount = (
  db: Db,
  tenantId: string,
  { currency, amounts, from, to }: AmountRange,
) =>
  selectEntries(db, tenantId)
    .where("currency", "=", currency)
    .where(getDialect(db).isAmongKeys("amount", amounts))
    .where("day", ">=", from)
    .where("day", "<=", to)
    .orderBy("day")
    .orderBy("id")
    .execute();

/** Reasons for which a return waits: its payment is unknown, or was found by payer and amount and not by a reference. */
export const RETURN_WAITS = { forPayment: 1, forReference: 2 } as const;

/** Finds the returns whose returned payments are not known for sure yet, the newest first. */
export const findWaitingReturns = (db: Db, tenantId: string, most: number) =>
  selectEntries(db, tenantId)
    .where("waits", "is not", null)
    .orderBy("day", "desc")
    .orderBy("id")
    .limit(most)
    .execute();

/** Finds the doubtful entries that are not settled, the oldest first, with the entries that they may repeat. */
export const findOpenDoubts = (db: Db, tenantId: string) =>
  selectEntries(db, tenantId).where("doubt", "=", "open").orderBy("day").orderBy("id").execute();

/** Finds the entries of an import. */
export const findEntriesOfImport = (db: Db, tenantId: string, importId: string) =>
  selectEntries(db, tenantId).where("import_id", "=", importId).execute();

/** Finds the entries that were joined to others, that may repeat them, or that have a payment of them. */
export const findEntriesAbout = (db: Db, tenantId: string, ids: readonly string[]) => {
  const { isAmongKeys } = getDialect(db);
  return selectEntries(db, tenantId)
    .where(sql<boolean>`(${isAmongKeys("joined_to", ids)} or ${isAmongKeys("doubt_of", ids)}
      or ${isAmongKeys("part_of", ids)})`)
    .execute();
};
