import type { AccountFields } from "../../../contract/operations/accounts.ts";
import type { StoredDocument } from "../../../contract/operations/documents.ts";
import type { AccountRow, DocumentRow } from "../../store/tables.ts";

/** The fields that an account was sent with. */
export const storedAccount = ({ fields }: Pick<AccountRow, "fields">): AccountFields =>
  JSON.parse(fields) as AccountFields;

/** The fields that a document was sent with. */
export const storedDocument = ({ fields }: Pick<DocumentRow, "fields">): StoredDocument =>
  JSON.parse(fields) as StoredDocument;
