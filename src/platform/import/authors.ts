import { fold } from "../store/engine/fold.ts";
import type { Db } from "../store/port.ts";
import { listMembers } from "../store/queries/users.ts";
import { IMPORTER } from "./importer.ts";

/** Returns the author to store for one of a file; an absent one is the import itself. */
export type FindAuthor = (author: string | undefined) => string;

/**
 * Reads the tenant's users and returns a function that finds authors among them, by e-mail address or id: their records
 * show the user. An author who is no user stays as the text of the file, an address in small letters.
 */
export const readAuthors = async (tx: Db, tenantId: string): Promise<FindAuthor> => {
  const members = await listMembers(tx, tenantId);
  const known = new Map(members.map(({ id, email_folded: email }) => [email, id]));
  return (author) => {
    if (author === undefined) return IMPORTER.id;
    if (!author.includes("@")) return author;
    const email = fold(author);
    return known.get(email) ?? email;
  };
};
