import Big from "big.js";
import { findAccounts } from "../../store/accounts.ts";
import { findDocumentsNamed } from "../../store/documents.ts";
import type { NewPayment } from "../../store/payments.ts";
import type { Db } from "../../store/port.ts";
import type { DocumentRow } from "../../store/tables.ts";
import { parseDocument } from "../../services/ingest/stored.ts";
import type { Values } from "./row.ts";

/** Fields of a bank row that can name the document that it pays, best first. */
const NAMES = ["invoiceNumber", "remittanceId", "paymentReference"] as const;

const listDocumentNames = (values: Values): string[] => {
  const named = values["invoiceNumber"];
  if (typeof named === "string") return [named];
  return NAMES.map((name) => values[name]).filter((value) => typeof value === "string");
};

type DocumentsByName = ReadonlyMap<string, readonly DocumentRow[]>;

/** Finds documents by document number and by invoice number. */
const findByName = async (tx: Db, tenantId: string, names: string[]): Promise<DocumentsByName> => {
  const found = await findDocumentsNamed(tx, tenantId, [...new Set(names)]);
  const byName = new Map<string, DocumentRow[]>();
  for (const row of found) {
    const own = new Set([
      row.document_number,
      ...(row.invoice_num === null ? [] : [row.invoice_num]),
    ]);
    for (const name of own) byName.set(name, [...(byName.get(name) ?? []), row]);
  }
  return byName;
};

/** Finds the document that a row pays, in the payment's currency; undefined if a name fits several. */
const findDocument = (values: Values, named: DocumentsByName): DocumentRow | undefined => {
  for (const name of listDocumentNames(values)) {
    const found = named.get(name) ?? [];
    const [only] = found;
    const fits = only?.currency === null || only?.currency === values["currencyCode"];
    if (only !== undefined && found.length === 1 && fits) return only;
  }
  return undefined;
};

const firstNumber = (...values: unknown[]): number | undefined =>
  values.find((value) => typeof value === "number");

const smaller = (a: Big, b: Big): Big => (a.lt(b) ? a : b);

/** Computes applied amount, short payment and status. Amounts given by an EDI 820 remittance are kept. */
const settle = (values: Values, balance: number | undefined): Values => {
  const keeps = values["remittanceSource"] === "edi820";
  const paid = firstNumber(keeps ? values["appliedAmount"] : values["unappliedAmount"]) ?? 0;
  const open = balance ?? paid;
  const applied = open > 0 ? smaller(new Big(paid), new Big(open)) : new Big(0);
  const missing = new Big(open).minus(paid);
  const shortPay = missing.gt(0);
  return {
    ...(keeps
      ? {}
      : {
          appliedAmount: applied.toNumber(),
          unappliedAmount: new Big(paid).minus(applied).toNumber(),
        }),
    shortPay,
    ...(shortPay ? { deductionAmount: values["deductionAmount"] ?? missing.toNumber() } : {}),
    applicationStatus:
      values["applicationStatus"] === "reversed" ? "reversed" : shortPay ? "partial" : "matched",
  };
};

const applyMatch = (values: Values, row: DocumentRow, accountName: string | undefined): Values => {
  const document = parseDocument(row);
  const balance = firstNumber(
    document.denomination,
    document.denomination_in_original_currency,
    document.original_denomination,
    document.original_denomination_in_original_currency,
  );
  const total = firstNumber(
    document.original_denomination,
    document.original_denomination_in_original_currency,
  );
  return {
    ...values,
    documentNumber: row.document_number,
    invoiceNumber: values["invoiceNumber"] ?? row.invoice_num ?? row.document_number,
    accountNumber: row.account_number,
    accountName,
    poNumber: document.po_number,
    invoiceAmount: values["invoiceAmount"] ?? total ?? balance,
    invoiceBalance: balance,
    ...settle(values, balance),
    matchMethod: "auto",
    matchConfidence: 1,
  };
};

/** Adds to each row the document that it pays, if exactly one fits. */
export const matchDocuments = async (
  tx: Db,
  tenantId: string,
  rows: readonly NewPayment[],
): Promise<NewPayment[]> => {
  const names = rows.flatMap(({ values }) => listDocumentNames(values));
  const named = await findByName(tx, tenantId, names);
  const pairs = rows.map((row) => ({ row, document: findDocument(row.values, named) }));
  const numbers = pairs.flatMap(({ document }) => document?.account_number ?? []);
  const accounts = await findAccounts(tx, tenantId, [...new Set(numbers)]);
  const accountNames = new Map(accounts.map(({ account_number, name }) => [account_number, name]));
  return pairs.map(({ row, document }) => {
    if (document === undefined) return row;
    const accountName = accountNames.get(document.account_number);
    return { ...row, values: applyMatch(row.values, document, accountName) };
  });
};
