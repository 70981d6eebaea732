import type { Contract } from "../../contract/index.ts";
import type { CompanyScore } from "../../contract/operations/company-scores.ts";
import type { StoredDocument } from "../../contract/operations/documents.ts";
import type { Call, Handlers } from "../handlers.ts";
import { findAccount } from "../store/queries/accounts.ts";
import { findLatestScore } from "../store/queries/company-scores.ts";
import { type PaidDocument, selectPaidDocuments } from "../store/queries/documents.ts";
import { readTenant } from "../store/queries/tenants.ts";
import { createTally, type Invoice } from "./company-scores/tally.ts";
import { parseDocument } from "./ingest/stored.ts";
import { shorten } from "./records.ts";

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
const calculateScore = async ({ db, snapshot, tenantId, now }: Call, companyId: string) => {
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

export const company_scores = (): Handlers<Contract["company_scores"]> => ({
  async get({ params: { companyId } }, call) {
    const imported = await findLatestScore(call.db, call.tenantId, companyId);
    if (imported !== undefined) return { body: JSON.parse(imported.fields) as CompanyScore };
    const score = await calculateScore(call, companyId);
    if (score !== undefined) return { body: score };
    return call.fail("not_found", `There is no score of the company ${shorten(companyId)}.`);
  },
});
