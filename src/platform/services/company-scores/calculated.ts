import type { StoredDocument } from "../../../contract/operations/documents.ts";
import type { CompanyScore } from "../../../contract/operations/company-scores.ts";
import type { Call } from "../../handlers.ts";
import { findAccount } from "../../store/accounts.ts";
import { type PaidDocument, selectPaidDocuments } from "../../store/documents.ts";
import { readTenant } from "../../store/tenants.ts";
import { parseDocument } from "../ingest/stored.ts";
import { createTally, type Invoice } from "./tally.ts";

// The original amount of a document; the open amount where the document has no original one.
const TOTALS = [
  ["original_denomination", "currency"],
  ["original_denomination_in_original_currency", "original_currency"],
  ["original_denomination_in_base_currency", "base_currency"],
  ["denomination", "currency"],
  ["denomination_in_original_currency", "original_currency"],
  ["denomination_in_base_currency", "base_currency"],
] as const;

const toTotal = (document: StoredDocument): [amount: number, currency: string | undefined] => {
  for (const [amount, currency] of TOTALS) {
    const value = document[amount];
    if (value !== undefined) return [value, document[currency]];
  }
  return [0, undefined];
};

const toInvoice = (row: PaidDocument, currency: string): Invoice | undefined => {
  const document = parseDocument(row);
  if (document.document_type !== "invoice") return undefined;
  const [amount, own] = toTotal(document);
  const closed = row.status === "closed";
  return {
    amount,
    currency: own ?? row.currency ?? currency,
    invoicedAt: Date.parse(document.invoice_date),
    dueAt: Date.parse(document.due_date),
    closedAt: closed ? (row.closed_at ?? row.updated_at) : null,
    writtenOff: closed && row.closure_reason === "write_off",
  };
};

/** Calculates the score of a company from the invoices of the account whose number is the company's id. */
export const calculateScore = async (
  { db, snapshot, tenantId, now }: Pick<Call, "db" | "snapshot" | "tenantId" | "now">,
  companyId: string,
): Promise<CompanyScore | undefined> => {
  const account = await findAccount(db, tenantId, companyId);
  const { currency } = await readTenant(db, tenantId);
  const preferred = account?.currency ?? null;
  const tally = createTally(now);
  await using view = await snapshot();
  for await (const row of view.stream(selectPaidDocuments(view.db, tenantId, companyId))) {
    const invoice = toInvoice(row, preferred ?? currency);
    if (invoice !== undefined) tally.add(invoice);
  }
  return tally.score(preferred);
};
