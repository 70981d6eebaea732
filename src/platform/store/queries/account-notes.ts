import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import type { AccountNoteRow } from "../tables/schema.ts";

export const findAccountNote = (
  db: Db,
  tenantId: string,
  accountNumber: string,
  reference: string,
): Promise<AccountNoteRow | undefined> =>
  db
    .selectFrom("account_notes")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("reference", "=", reference)
    .where("account_number", "=", accountNumber)
    .executeTakeFirst();

/** Finds notes of any account by reference. */
export const findAccountNotes = (
  db: Db,
  tenantId: string,
  references: readonly string[],
): Promise<AccountNoteRow[]> =>
  db
    .selectFrom("account_notes")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where(getDialect(db).isAmongKeys("reference", references))
    .execute();

/** Lists an account's notes, newest effective date first. */
export const listAccountNotes = (
  db: Db,
  tenantId: string,
  accountNumber: string,
): Promise<AccountNoteRow[]> =>
  db
    .selectFrom("account_notes")
    .selectAll()
    .where("tenant_id", "=", tenantId)
    .where("account_number", "=", accountNumber)
    .orderBy("effective_at", "desc")
    .orderBy("created_at", "desc")
    .orderBy("reference", "desc")
    .execute();

/** Inserts a note; returns false if the tenant has a note with the reference. */
export const insertAccountNote = async (tx: Db, row: AccountNoteRow): Promise<boolean> => {
  const result = await tx
    .insertInto("account_notes")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
};

/** Selects the notes of an author, who may have several names, oldest first. */
export const selectAccountNotesBy = (db: Db, tenantId: string, authors: readonly string[]) =>
  db
    .selectFrom("account_notes")
    .select(["reference", "account_number", "body", "created_at"])
    .where("tenant_id", "=", tenantId)
    .where("created_by", "in", authors)
    .orderBy("created_at");
