import { findAccount } from "../../store/accounts.ts";
import { findDocument } from "../../store/documents.ts";
import type { Db } from "../../store/port.ts";
import type { Tenant } from "../../store/tenants.ts";
import { type Asking, shown } from "../records.ts";

type Named = { documentNumber: string; accountNumber: string };

/** The currency of a new dispute: its document's, else its account's, else the tenant's. Refuses a document it cannot be on. */
export const currencyOf = async (
  tx: Db,
  call: Asking,
  { documentNumber, accountNumber }: Named,
  tenant: Tenant,
): Promise<string> => {
  const document = await findDocument(tx, call.tenantId, documentNumber);
  if (document === undefined && tenant.settings.requireKnownDocument) {
    call.refuse("documentNumber", "unknown_reference", "names no document");
  }
  if (document !== undefined && document.account_number !== accountNumber) {
    const message = `is not a document of the account ${shown(accountNumber)}`;
    call.refuse("documentNumber", "mismatch", message);
  }
  const account = await findAccount(tx, call.tenantId, accountNumber);
  return document?.currency ?? account?.currency ?? tenant.currency;
};
