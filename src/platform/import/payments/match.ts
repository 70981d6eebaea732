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

/** What a payment gives to its documents. */
type Funds = {
  /** Left for documents whose share the payer did not name; in the order of the rows. */
  free: Big;
  applied: Big;
};

const keepsAmounts = (values: Values): boolean => values["remittanceSource"] === "edi820";

const readAmount = ({ paymentAmount }: Values): Big => new Big(firstNumber(paymentAmount) ?? 0);

/** The amount that the payer named for the row's document. */
const readShare = (values: Values): Big | undefined => {
  const share = firstNumber(values["appliedAmount"]);
  return share === undefined ? undefined : new Big(share);
};

const atLeastZero = (amount: Big): Big => (amount.lt(0) ? new Big(0) : amount);

/** Returns each row with the funds of its payment, before any row is settled. */
const withFunds = (rows: readonly NewPayment[]): { row: NewPayment; funds: Funds }[] => {
  const byPayment = new Map<unknown, Funds>();
  const all = rows.map((row) => {
    const { values } = row;
    const { paymentId } = values;
    const funds = byPayment.get(paymentId) ?? { free: readAmount(values), applied: new Big(0) };
    funds.free = funds.free.minus(readShare(values) ?? 0);
    byPayment.set(paymentId, funds);
    return { row, funds };
  });
  for (const funds of byPayment.values()) funds.free = atLeastZero(funds.free);
  return all;
};

/** Takes the applied amount of a row from the funds. Amounts given by an EDI 820 remittance are kept. */
const takeApplied = (values: Values, open: Big, funds: Funds): Big => {
  const share = readShare(values);
  const kept = keepsAmounts(values) ? share : undefined;
  const applied = kept ?? smaller(share ?? funds.free, atLeastZero(open));
  if (share === undefined) funds.free = funds.free.minus(applied);
  funds.applied = funds.applied.plus(applied);
  return applied;
};

/** Computes applied amount, short payment and status of a row with a document. */
const settle = (values: Values, balance: number | undefined, funds: Funds): Values => {
  const paid = readShare(values) ?? funds.free;
  const open = balance === undefined ? paid : new Big(balance);
  const applied = takeApplied(values, open, funds);
  const missing = open.minus(paid);
  const shortPay = missing.gt(0);
  return {
    appliedAmount: applied.toNumber(),
    shortPay,
    ...(shortPay ? { deductionAmount: values["deductionAmount"] ?? missing.toNumber() } : {}),
    applicationStatus:
      values["applicationStatus"] === "reversed" ? "reversed" : shortPay ? "partial" : "matched",
  };
};

type Match = { row: DocumentRow; accountName: string | undefined; funds: Funds };

const applyMatch = (values: Values, { row, accountName, funds }: Match): Values => {
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
    ...settle(values, balance, funds),
    matchMethod: "auto",
    matchConfidence: 1,
  };
};

/**
 * Adds to each row the document that it pays, if exactly one fits, and to all rows of a payment what no document took.
 * The rows of a payment must be complete and in order.
 */
export const matchDocuments = async (
  tx: Db,
  tenantId: string,
  rows: readonly NewPayment[],
): Promise<NewPayment[]> => {
  const names = rows.flatMap(({ values }) => listDocumentNames(values));
  const named = await findByName(tx, tenantId, names);
  const documents = rows.map(({ values }) => findDocument(values, named));
  const numbers = documents.flatMap((document) => document?.account_number ?? []);
  const accounts = await findAccounts(tx, tenantId, [...new Set(numbers)]);
  const accountNames = new Map(accounts.map(({ account_number, name }) => [account_number, name]));
  const settled = withFunds(rows).map(({ row, funds }, place) => {
    const document = documents[place];
    const accountName = accountNames.get(document?.account_number ?? "");
    const values =
      document === undefined
        ? { ...row.values, appliedAmount: takeApplied(row.values, new Big(0), funds).toNumber() }
        : applyMatch(row.values, { row: document, accountName, funds });
    return { row, values, funds };
  });
  return settled.map(({ row, values, funds }) => {
    const left = atLeastZero(readAmount(values).minus(funds.applied));
    return { ...row, values: { ...values, unappliedAmount: left.toNumber() } };
  });
};
