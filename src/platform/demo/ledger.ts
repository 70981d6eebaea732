import type { AccountFields } from "../../contract/operations/accounts.ts";
import type { StoredDocument } from "../../contract/operations/documents.ts";
import { NO_FORMER } from "../services/documents/balances.ts";
import {
  toAccountColumns,
  toDocumentColumns,
  toDocumentKeys,
} from "../store/queries/listed-columns.ts";
import type {
  AccountRow,
  DocumentBalanceRow,
  DocumentClosureRow,
  DocumentRow,
} from "../store/tables/schema.ts";
import type { DemoData } from "./data.ts";

export type Account = Omit<AccountRow, "tenant_id" | "fields"> & { fields: AccountFields };
export type LedgerDocument = Omit<DocumentRow, "tenant_id" | "fields"> & {
  fields: Partial<StoredDocument>;
};

/** The fields that do not follow from a document's lines, its account and its number. */
type GivenFields = Omit<Partial<StoredDocument>, "line_items"> & {
  line_items?: [product: string, quantity: number, unitPrice: number][];
};
type GivenDocument = Omit<LedgerDocument, "fields"> & { fields: GivenFields };

type Product = { code: string; description: string; unit: string };

const toCents = (amount = 0): number => Math.round(amount * 100);

const deriveFields = (
  { document_number, account_number, fields: { line_items, ...given } }: GivenDocument,
  { payment_terms, currency }: AccountFields,
  products: ReadonlyMap<string, Product>,
): Partial<StoredDocument> => {
  const lines = line_items?.map(([code, quantity, unit_price], place) => ({
    line_number: place + 1,
    product_code: code,
    description: products.get(code)?.description,
    quantity,
    unit_of_measure: products.get(code)?.unit,
    unit_price,
    amount: toCents(quantity * unit_price) / 100,
  }));
  const goods = (lines ?? []).reduce((sum, { amount }) => sum + toCents(amount), 0);
  const fields = {
    account_number,
    due_date: given.invoice_date,
    document_type: "invoice",
    invoice_num: document_number,
    pdf_name: `${document_number}.pdf`,
    currency,
    original_denomination:
      (goods + toCents(given.freight_amount) + toCents(given.tax_amount)) / 100,
    denomination: 0,
    ...(lines === undefined ? {} : { line_items: lines, payment_terms }),
    ...given,
  };
  return fields as Partial<StoredDocument>;
};

type Closed = Pick<DocumentClosureRow, "document_number" | "closed_at">;

/** The present balance of a document. What it owed before follows from its payments. */
const toBalance = (one: LedgerDocument): Omit<DocumentBalanceRow, "tenant_id"> => ({
  document_number: one.document_number,
  version: one.version,
  recorded_at: one.balance_recorded_at ?? one.updated_at,
  status: one.status,
  balance: one.status === "closed" ? 0 : one.balance,
  currency: one.balance_currency,
  cause: one.status === "closed" ? "closed" : one.version === 1 ? "imported" : "changed",
});

/** Returns the accounts and documents by their numbers, and the balances of the documents; documents are numbered in the order of the data. */
export const buildLedger = (data: DemoData) => {
  const accounts = new Map(
    data
      .records<Account>("accounts")
      .map((one) => [
        one.account_number,
        { ...one, ...toAccountColumns(one.account_number, one.fields) },
      ]),
  );
  const products = new Map(data.records<Product>("products").map((one) => [one.code, one]));
  const closedAt = new Map(
    data.records<Closed>("document_closures").map((one) => [one.document_number, one.closed_at]),
  );
  const document = (one: GivenDocument, place: number): LedgerDocument => {
    const buyer = accounts.get(one.account_number);
    if (buyer === undefined) throw new Error(`No account of document ${one.document_number}`);
    const fields = deriveFields(one, buyer.fields, products);
    return {
      ...one,
      csr_id: place + 1,
      invoice_num: one.document_number,
      currency: buyer.currency,
      ...toDocumentColumns(one.document_number, fields as StoredDocument),
      ...toDocumentKeys(one.document_number, fields as StoredDocument),
      balance_known_from: closedAt.get(one.document_number) ?? one.updated_at,
      balance_recorded_at: closedAt.get(one.document_number) ?? one.updated_at,
      ...NO_FORMER,
      fields,
    };
  };
  const given = data.records<GivenDocument>("documents");
  const documents = given.map((one, place) => document(one, place));
  return {
    accounts,
    documents: new Map(documents.map((one) => [one.document_number, one])),
    balances: documents.map(toBalance),
  };
};

export type Ledger = ReturnType<typeof buildLedger>;
