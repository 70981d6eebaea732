import type { Fault } from "../../../contract/errors.ts";
import { findAccount } from "../../store/queries/accounts.ts";
import { findDocument } from "../../store/queries/documents.ts";
import type { Db } from "../../store/port.ts";
import type { AccountRow, DocumentRow } from "../../store/tables/schema.ts";
import type { Tenant } from "../../store/queries/tenants.ts";
import { type Asking, shorten } from "../records.ts";

type Named = { documentNumber: string; accountNumber: string };

/** The document and the account that a dispute names, where they exist. */
type Known = {
  document: Pick<DocumentRow, "account_number" | "currency"> | undefined;
  account: Pick<AccountRow, "currency"> | undefined;
};

/** Returns the fault of a dispute's document; undefined where there is none. */
export const findDocumentFault = (
  { accountNumber }: Pick<Named, "accountNumber">,
  { document }: Pick<Known, "document">,
  { settings }: Pick<Tenant, "settings">,
): Fault | undefined => {
  const field = "documentNumber";
  if (document === undefined) {
    return settings.requireKnownDocument
      ? { field, code: "unknown_reference", message: "names no document" }
      : undefined;
  }
  if (document.account_number === accountNumber) return undefined;
  const message = `is not a document of the account ${shorten(accountNumber)}`;
  return { field, code: "mismatch", message };
};

/** Returns the currency of a new dispute: its document's, else its account's, else the tenant's. */
export const chooseCurrency = (
  { document, account }: Known,
  { currency }: Pick<Tenant, "currency">,
): string => document?.currency ?? account?.currency ?? currency;

/** Returns the currency of a new dispute after checking its document. @throws {Problem} invalid_request */
export const findCurrency = async (
  tx: Db,
  call: Asking,
  named: Named,
  tenant: Tenant,
): Promise<string> => {
  const document = await findDocument(tx, call.tenantId, named.documentNumber);
  const fault = findDocumentFault(named, { document }, tenant);
  if (fault !== undefined) call.refuse(fault.field, fault.code, fault.message);
  const account = await findAccount(tx, call.tenantId, named.accountNumber);
  return chooseCurrency({ document, account }, tenant);
};
