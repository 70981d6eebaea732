import type { Db } from "../port.ts";
import type { AccountNoteRow } from "../tables/schema.ts";
import { createFindAmong, ofTenant, rowsOfTenant } from "../engine/rows.ts";

export const findAccountNote = (
  db: Db,
  tenantId: string,
  accountNumber: string,
  reference: string,
) =>
  rowsOfTenant(db, "account_notes", tenantId)
    .where("reference", "=", reference)
    .where("account_number", "=", accountNumber)
    .executeTakeFirst();

/** Finds notes of any account by reference. */
export const findAccountNotes = createFindAmong("account_notes", "reference");

/** Lists an account's notes, newest effective date first. */
export const listAccountNotes = (db: Db, tenantId: string, accountNumber: string) =>
  rowsOfTenant(db, "account_notes", tenantId)
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
  ofTenant(db, "account_notes", tenantId)
    .select(["reference", "account_number", "body", "created_at"])
    .where("created_by", "in", authors)
    .orderBy("created_at");
