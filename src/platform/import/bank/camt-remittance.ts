import { Big } from "./decimal.ts";
import { parseMoney } from "./camt-money.ts";
import type { RemittanceLine } from "./entry.ts";
import { omitEmpty, parseAmount } from "./file.ts";
import { joinTexts } from "./text.ts";
import { type Element, findAll, readText } from "./xml.ts";

// ISO 20022, DocumentType code: CREN is a credit note, CNFA one for a financial adjustment; they reduce the payment.
const CREDIT_NOTES: ReadonlySet<string> = new Set(["CREN", "CNFA"]);
// PUOR is a purchase order; dispatch advices, bills of lading, contracts, statements and disputes are no open items.
const ORDER = "PUOR";
const OTHER_DOCUMENTS: ReadonlySet<string> = new Set(["DISP", "BOLD", "CMCN", "SOAC"]);

type Adjustment = { value: Big; isDebit: boolean; reason: string; text: string; line: number };

/** A structured remittance, with its amounts in the currency of the payment. */
type Structured = {
  line: number;
  documents: { number: string; type: string }[];
  reference: string;
  due: Big | undefined;
  paid: Big | undefined;
  discount: Big | undefined;
  creditNote: Big | undefined;
  adjustments: Adjustment[];
  texts: string[];
};

const AMOUNTS: Readonly<Record<"due" | "paid" | "creditNote", string>> = {
  due: "DuePyblAmt",
  paid: "RmtdAmt",
  creditNote: "CdtNoteAmt",
};

/** Reads amounts in the payment's currency, and adds those in another one to the text. */
const readOwn = (elements: readonly Element[], currency: string, texts: string[]): Big[] =>
  elements.flatMap((element) => {
    const money = parseMoney(element);
    if (money.currency === currency) return [money.value];
    texts.push(`${element.name} ${money.currency} ${money.value.toFixed()}`);
    return [];
  });

// Version 2 has the discount as the text of DscntApldAmt, later ones as Amt below it.
const findDiscounts = (amounts: Element): Element[] =>
  findAll(amounts, "DscntApldAmt").flatMap((one) => {
    const below = findAll(one, "Amt");
    return below.length > 0 ? below : [one];
  });

const readAdjustments = (amounts: Element, currency: string, texts: string[]): Adjustment[] =>
  findAll(amounts, "AdjstmntAmtAndRsn").flatMap((one) => {
    const text = readText(one, "AddtlInf");
    if (text !== "") texts.push(text);
    return readOwn(findAll(one, "Amt"), currency, texts).map((value) => ({
      value,
      isDebit: readText(one, "CdtDbtInd") !== "CRDT",
      reason: readText(one, "Rsn"),
      text,
      line: one.line,
    }));
  });

const readStructured = (part: Element, currency: string): Structured => {
  const documents = findAll(part, "RfrdDocInf").flatMap((one) => {
    const number = readText(one, "Nb");
    return number === "" ? [] : [{ number, type: readText(one, "Tp/CdOrPrtry/Cd") }];
  });
  const reference = readText(part, "CdtrRefInf/Ref");
  const texts = [...documents.map(({ number }) => number), reference];
  const read = (name: string): Big | undefined =>
    readOwn(findAll(part, "RfrdDocAmt", name), currency, texts)[0];
  const [due, paid, creditNote] = [read(AMOUNTS.due), read(AMOUNTS.paid), read(AMOUNTS.creditNote)];
  const amounts = findAll(part, "RfrdDocAmt");
  const discounts = amounts.flatMap((one) => readOwn(findDiscounts(one), currency, texts));
  const adjustments = amounts.flatMap((one) => readAdjustments(one, currency, texts));
  for (const one of findAll(part, "AddtlRmtInf")) texts.push(one.text);
  const discount = discounts.reduce<Big | undefined>(
    (sum, one) => sum?.plus(one) ?? one,
    undefined,
  );
  return {
    line: part.line,
    documents,
    reference,
    due,
    paid,
    discount,
    creditNote,
    adjustments,
    texts,
  };
};

const toAmount = (value: Big | undefined): unknown =>
  value === undefined ? undefined : parseAmount(value.toFixed());

/**
 * Returns what was deducted by each adjustment. ISO 20022, DocumentAdjustment: CdtDbtInd says whether it is subtracted
 * (DBIT) or added (CRDT); senders that mean the opposite are known by amounts that add up only that way.
 */
const listDeductions = ({ due, paid, discount, adjustments }: Structured): Big[] => {
  if (adjustments.length === 0) return [];
  const deductions = adjustments.map(({ value, isDebit }) => (isDebit ? value : value.neg()));
  if (due === undefined || paid === undefined) return deductions;
  const missing = due.minus(paid).minus(discount ?? 0);
  const sum = deductions.reduce((total, one) => total.plus(one), new Big(0));
  if (sum.eq(0) || !sum.neg().eq(missing)) return deductions;
  return deductions.map((one) => one.neg());
};

const isDocument = (type: string): boolean => type !== ORDER && !OTHER_DOCUMENTS.has(type);

type Named = { cells: Record<string, unknown>; isCreditNote: boolean };

const nameDocuments = ({ documents, reference }: Structured): Named[] => {
  const named = documents.flatMap(({ number, type }): Named[] => {
    if (type === ORDER) return [{ cells: { poNumber: number }, isCreditNote: false }];
    if (!isDocument(type)) return [];
    return [{ cells: { invoiceNumber: number }, isCreditNote: CREDIT_NOTES.has(type) }];
  });
  // A creditor reference alone is the number under which the creditor asked for the payment.
  if (named.length > 0 || reference === "") return named;
  return [{ cells: { invoiceNumber: reference }, isCreditNote: false }];
};

const toLines = (one: Structured): RemittanceLine[] => {
  const named = nameDocuments(one);
  const [first, ...others] = named;
  if (first === undefined) return [];
  const { line, texts } = one;
  const remittanceText = joinTexts(texts);
  // Amounts belong to the remittance as a whole, which cannot be divided among several documents.
  if (others.length > 0)
    return named.map(({ cells }) => ({ line, cells: { ...cells, remittanceText } }));
  const deductions = listDeductions(one);
  const paid = first.isCreditNote ? (one.creditNote ?? one.paid)?.neg() : one.paid;
  // CdtNoteAmt beside an invoice is a credit note that was set off against it.
  const offset = first.isCreditNote ? undefined : one.creditNote;
  const adjusted = one.adjustments.map(({ reason, line: at }, place) => ({
    at,
    cells: { deductionAmount: toAmount(deductions[place]), deductionReasonCode: reason },
  }));
  if (offset !== undefined) {
    adjusted.push({
      at: line,
      cells: { deductionAmount: toAmount(offset), deductionReasonCode: "CREN" },
    });
  }
  const [own, ...further] = adjusted;
  const cells = omitEmpty({
    ...first.cells,
    appliedAmount: toAmount(paid),
    invoiceAmount: toAmount(first.isCreditNote ? one.due?.neg() : one.due),
    discountTaken: toAmount(one.discount),
    ...own?.cells,
    remittanceText,
  });
  return [
    { line, cells },
    ...further.map(({ at, cells: adjustment }) => ({
      line: at,
      cells: omitEmpty({ ...first.cells, appliedAmount: 0, ...adjustment, remittanceText }),
    })),
  ];
};

export type Remittance = {
  lines: RemittanceLine[];
  /** Texts of no document; those of documents are in their lines. */
  texts: string[];
  references: string[];
  /** The first creditor reference. */
  creditorReference: string;
};

/** Reads the remittance information of a transaction, of which each structured part can name documents. */
export const readRemittance = (transaction: Element, currency: string): Remittance => {
  const structured = findAll(transaction, "RmtInf", "Strd").map((part) =>
    readStructured(part, currency),
  );
  const read = structured.map((one) => ({ one, lines: toLines(one) }));
  return {
    lines: read.flatMap(({ lines }) => lines),
    texts: [
      ...findAll(transaction, "RmtInf", "Ustrd").map(({ text }) => text),
      ...read.flatMap(({ one, lines }) => (lines.length > 0 ? [] : one.texts)),
    ],
    references: structured.flatMap(({ documents, reference }) => [
      ...documents.map(({ number }) => number),
      reference,
    ]),
    creditorReference: structured.find(({ reference }) => reference !== "")?.reference ?? "",
  };
};
