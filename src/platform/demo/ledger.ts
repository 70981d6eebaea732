import type { AccountFields } from "../../contract/operations/accounts.ts";
import type { StoredDocument } from "../../contract/operations/documents.ts";
import {
  toAccountColumns,
  toDocumentColumns,
  toDocumentKeys,
} from "../store/queries/listed-columns.ts";
import type { AccountRow, DocumentRow } from "../store/tables/schema.ts";
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

/** Returns the accounts and documents by their numbers; documents are numbered in the order of the data. */
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
      fields,
    };
  };
  const given = data.records<GivenDocument>("documents");
  return {
    accounts,
    documents: new Map(given.map((one, place) => [one.document_number, document(one, place)])),
  };
};

export type Ledger = ReturnType<typeof buildLedger>;
