import type { AccountFields } from "../../../contract/operations/accounts.ts";
import type { StoredDocument } from "../../../contract/operations/documents.ts";
import type { AccountRow, DocumentRow } from "../../store/tables/schema.ts";

/** Parses the stored fields of an account. */
export const parseAccount = ({ fields }: Pick<AccountRow, "fields">): AccountFields =>
  JSON.parse(fields) as AccountFields;

/** Parses the stored fields of a document. */
export const parseDocument = ({ fields }: Pick<DocumentRow, "fields">): StoredDocument =>
  JSON.parse(fields) as StoredDocument;
