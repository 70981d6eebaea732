import { Big, parseDecimal, sumOf } from "./decimal.ts";
import type { RemittanceLine } from "./entry.ts";
import { createMalformed, omitEmpty, parseAmount } from "./file.ts";
import { joinTexts } from "./text.ts";
import type { Segment } from "./x12.ts";

export const describePlace = ({ number }: Segment): string => `segment ${number}`;

export const readElement = ({ elements }: Segment, place: number): string =>
  elements[place]?.trim() ?? "";

/** Reads an amount that can be left out; another text is refused. */
export const readOptionalAmount = (segment: Segment, place: number): Big | undefined => {
  const text = readElement(segment, place);
  if (text === "") return undefined;
  const amount = parseDecimal(text);
  if (amount === undefined)
    throw createMalformed(describePlace(segment), `has no amount in element ${place}`);
  return amount;
};

export const readAmount = (segment: Segment, place: number): Big => {
  const amount = readOptionalAmount(segment, place);
  if (amount === undefined)
    throw createMalformed(describePlace(segment), `has no amount in element ${place}`);
  return amount;
};

// X12 data element 128: IV seller's invoice, IK invoice, OI original invoice.
const INVOICES: ReadonlySet<string> = new Set(["IV", "IK", "OI"]);
// CM buyer's credit memo, CL seller's credit memo.
const CREDITS: ReadonlySet<string> = new Set(["CM", "CL"]);
const ORDER = "PO";
// 11 account, 12 billing account, 14 master account, AJ customer account, 1L group or policy, 23 client number.
const ACCOUNTS: ReadonlySet<string> = new Set(["11", "12", "14", "AJ", "1L", "23"]);
// Documents of the older RMT, whose other qualifiers name items.
const OLD_DOCUMENTS: ReadonlySet<string> = new Set([...INVOICES, ...CREDITS, ORDER, "DM"]);

/** An adjustment of a document or, outside of a remittance, of none. */
export type Adjustment = {
  number: number;
  /** As written: negative is what the payer deducted. */
  amount: Big;
  reason: string;
  invoice: string;
  texts: string[];
};

/** An RMR, or an RMT of version 003010, with what belongs to it. */
export type Document = {
  number: number;
  invoice: string;
  order: string;
  isCredit: boolean;
  paid: Big | undefined;
  due: Big | undefined;
  discount: Big | undefined;
  reason: string;
  adjustments: Adjustment[];
  texts: string[];
};

type Named = Pick<Document, "invoice" | "order" | "isCredit">;

const nameDocument = (qualifier: string, id: string): Named => {
  const isCredit = CREDITS.has(qualifier);
  if (qualifier === ORDER) return { invoice: "", order: id, isCredit };
  return { invoice: ACCOUNTS.has(qualifier) ? "" : id, order: "", isCredit };
};

const reduce = (amount: Big | undefined, isCredit: boolean): Big | undefined =>
  isCredit ? amount?.abs().neg() : amount;

/**
 * Reads an RMR. X12 RMR: 01 and 02 document, 04 amount paid, 05 total due, 06 discount taken, 07 and 08 reason and
 * amount of an adjustment.
 */
export const readRmr = (segment: Segment): Document => {
  const named = nameDocument(readElement(segment, 1), readElement(segment, 2));
  const amount = readOptionalAmount(segment, 8);
  const reason = readElement(segment, 7);
  const { number } = segment;
  return {
    ...named,
    number,
    paid: reduce(readOptionalAmount(segment, 4), named.isCredit),
    due: reduce(readOptionalAmount(segment, 5), named.isCredit),
    discount: readOptionalAmount(segment, 6)?.abs(),
    reason,
    adjustments:
      amount === undefined || amount.eq(0)
        ? []
        : [{ number, amount, reason, invoice: "", texts: [] }],
    texts: ACCOUNTS.has(readElement(segment, 1)) ? [readElement(segment, 2)] : [],
  };
};

/** Reads an RMT of version 003010: 03 amount paid, 04 total due, 07 discount. Undefined if it is no document. */
export const readRmt = (segment: Segment): Document | undefined => {
  if (!OLD_DOCUMENTS.has(readElement(segment, 1))) return undefined;
  const named = nameDocument(readElement(segment, 1), readElement(segment, 2));
  const [paid, due] = [readOptionalAmount(segment, 3), readOptionalAmount(segment, 4)];
  const discount = parseDecimal(readElement(segment, 7));
  // The order of the later elements differs among senders, so that only a discount that adds up is one.
  const isProven = paid && due && discount?.gt(0) && due.minus(discount).eq(paid);
  return {
    ...named,
    number: segment.number,
    paid: reduce(paid, named.isCredit),
    due: reduce(due, named.isCredit),
    discount: isProven === true ? discount : undefined,
    reason: "",
    adjustments: [],
    texts: [],
  };
};

/** Reads an ADX: 01 amount, 02 reason, 03 and 04 a reference. */
export const readAdx = (segment: Segment): Adjustment => {
  const [qualifier, id] = [readElement(segment, 3), readElement(segment, 4)];
  return {
    number: segment.number,
    amount: readAmount(segment, 1),
    reason: readElement(segment, 2),
    invoice: INVOICES.has(qualifier) ? id : "",
    texts: INVOICES.has(qualifier) ? [] : [id],
  };
};

/** Binds a REF to its own document or adjustment; a reference that names no document is text. */
export const bindReference = (segment: Segment, owner: Document | Adjustment): void => {
  const [qualifier, id] = [readElement(segment, 1), readElement(segment, 2)];
  owner.texts.push(readElement(segment, 3));
  if (INVOICES.has(qualifier) && owner.invoice === "") owner.invoice = id;
  else if ("order" in owner && qualifier === ORDER && owner.order === "") owner.order = id;
  else owner.texts.push(id);
};

const ZERO = new Big(0);
const sumAdjustments = ({ adjustments }: Document): Big =>
  sumOf(adjustments.map(({ amount }) => amount));

/**
 * Returns what is paid of each document. RMR04 is the amount paid; senders that write the amount before adjustments or
 * discounts are known by a payment that adds up only that way.
 */
export const findPaid = (
  payment: Big,
  documents: readonly Document[],
  unbound: readonly Adjustment[],
): (Big | undefined)[] => {
  const paid = documents.map((one) => one.paid);
  const free = sumOf(unbound.map(({ amount }) => amount));
  const reductions: ((one: Document) => Big)[] = [
    () => ZERO,
    (one) => sumAdjustments(one),
    (one) => (one.discount ?? ZERO).neg(),
    (one) => sumAdjustments(one).minus(one.discount ?? ZERO),
  ];
  if (paid.some((value) => value === undefined)) return paid;
  for (const reduction of reductions) {
    const net = documents.map((one) => (one.paid ?? ZERO).plus(reduction(one)));
    if (sumOf(net).plus(free).eq(payment)) return net;
  }
  return paid;
};

const toNumber = (value: Big | undefined): unknown =>
  value === undefined ? undefined : parseAmount(value.toFixed());

/** Returns what each adjustment deducts: X12 has it negative; a positive one is known by amounts that add up. */
const listDeductions = ({ due, discount, adjustments }: Document, paid: Big | undefined): Big[] => {
  const deductions = adjustments.map(({ amount }) => amount.neg());
  if (due === undefined || paid === undefined) return deductions;
  const missing = due.minus(paid).minus(discount ?? ZERO);
  const sum = sumOf(deductions);
  return !sum.eq(0) && sum.neg().eq(missing) ? deductions.map((one) => one.neg()) : deductions;
};

const documentLines = (
  one: Document,
  paid: Big | undefined,
  shared: readonly string[],
): RemittanceLine[] => {
  const [first, ...further] = one.adjustments;
  const [own, ...others] = listDeductions(one, paid);
  const named = { invoiceNumber: one.invoice, poNumber: one.order };
  const describe = (texts: readonly string[]): string => joinTexts([...shared, ...texts]);
  const cells = omitEmpty({
    ...named,
    appliedAmount: toNumber(paid),
    invoiceAmount: toNumber(one.due),
    discountTaken: one.discount?.eq(0) === true ? undefined : toNumber(one.discount),
    deductionAmount: toNumber(own),
    deductionReasonCode: first?.reason || one.reason,
    remittanceText: describe([...one.texts, ...(first?.texts ?? [])]),
  });
  const rest = further.map(({ number, reason, texts }, place) => ({
    line: number,
    cells: omitEmpty({
      ...named,
      appliedAmount: 0,
      deductionAmount: toNumber(others[place]),
      deductionReasonCode: reason,
      remittanceText: describe([...one.texts, ...texts]),
    }),
  }));
  return [{ line: one.number, cells }, ...rest];
};

/** A document, or an adjustment outside of one, with the texts of its entity. */
export type Part = { shared: readonly string[] } & (
  | { document: Document; adjustment?: undefined }
  | { adjustment: Adjustment; document?: undefined }
);

/** Converts the parts of a remittance to lines that add up to the payment if its amounts do. */
export const toLines = (
  payment: Big,
  parts: readonly Part[],
  texts: readonly string[],
): RemittanceLine[] => {
  const documents = parts.flatMap(({ document }) => document ?? []);
  const unbound = parts.flatMap(({ adjustment }) => adjustment ?? []);
  const paid = findPaid(payment, documents, unbound);
  let next = 0;
  return parts.flatMap(({ document, adjustment, shared }): RemittanceLine[] => {
    const context = [...texts, ...shared];
    if (document !== undefined) return documentLines(document, paid[next++], context);
    const { number, amount, invoice, reason } = adjustment;
    const cells = omitEmpty({
      invoiceNumber: invoice,
      appliedAmount: toNumber(amount),
      deductionAmount: toNumber(amount.neg()),
      deductionReasonCode: reason,
      remittanceText: joinTexts([...context, ...adjustment.texts]),
    });
    return [{ line: number, cells }];
  });
};
