import type { Item, Row } from "../rows.ts";
import {
  parseAmount,
  parseCompactDay,
  omitEmpty,
  createMalformed,
  derivePaymentId,
  type ReadBankFile,
  UNAPPLIED,
  type Warn,
} from "./file.ts";
import { type Segment, X12Reader } from "./x12.ts";

// Segment layouts: ASC X12 transaction set 820, versions 003010 (BPS, RMT) and 005010 (BPR, TRN, RMR, ADX).
const METHODS: ReadonlyMap<string, string> = new Map([
  ["ACH", "ach"],
  ["CHK", "check"],
  ["PBC", "check"],
  ["FWT", "wire"],
  ["SWT", "wire"],
  ["FEW", "wire"],
  ["CCC", "card"],
]);

type Remittance = { number: number; cells: Record<string, unknown> };

type Payment = {
  number: number;
  control: string;
  segments: number;
  amount: unknown;
  day: string | undefined;
  method: string;
  isCredit: boolean;
  reference: string;
  originator: string;
  payer: string | undefined;
  currency: string;
  remittances: Remittance[];
};

const readElement = ({ elements }: Segment, place: number): string => elements[place]?.trim() ?? "";

/** Reads interchanges, groups and transaction sets, and collects each payment with its remittances. */
class Edi820Reader {
  readonly #warn: Warn;
  #sender = "";
  #payment: Payment | undefined;
  #isForeign = false;

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  segment(segment: Segment): Row[] {
    const name = readElement(segment, 0);
    if (name === "ISA") this.#sender = readElement(segment, 6);
    if (this.#payment === undefined) return this.#outside(name, segment);
    this.#payment.segments += 1;
    if (name === "SE") return this.#close(segment, this.#payment);
    if (["ST", "GS", "GE", "IEA", "ISA"].includes(name)) {
      throw createMalformed(
        describePlace(segment),
        `is ${name}, but the transaction set has no SE yet`,
      );
    }
    this.#inside(name, segment, this.#payment);
    return [];
  }

  #outside(name: string, segment: Segment): Row[] {
    if (this.#isForeign) {
      this.#isForeign = name !== "SE";
      return [];
    }
    if (name === "ST" && readElement(segment, 1) !== "820") {
      this.#warn(describePlace(segment), `begins a ${readElement(segment, 1)}, which is skipped`);
      this.#isForeign = true;
      return [];
    }
    if (name === "ST") this.#payment = startPayment(segment);
    else if (!["ISA", "GS", "GE", "IEA", "TA1"].includes(name)) {
      throw createMalformed(describePlace(segment), "is outside a transaction set");
    }
    return [];
  }

  #inside(name: string, segment: Segment, payment: Payment): void {
    if (name === "BPR" || name === "BPS") readBeginning(name, segment, payment);
    if (name === "TRN") {
      payment.reference = readElement(segment, 2);
      payment.originator = readElement(segment, 3);
    }
    if (name === "CUR") payment.currency = readElement(segment, 2) || payment.currency;
    if (name === "N1" && readElement(segment, 1) === "PR")
      payment.payer = readElement(segment, 2) || undefined;
    if (name === "RMR") addRemittance(segment, payment, 4, readElement(segment, 5));
    if (name === "RMT" && readElement(segment, 1) === "IV") addRemittance(segment, payment, 3, "");
    if (name === "ADX") addAdjustment(segment, payment);
  }

  #close(segment: Segment, payment: Payment): Row[] {
    this.#payment = undefined;
    if (
      readElement(segment, 1) !== String(payment.segments) ||
      readElement(segment, 2) !== payment.control
    ) {
      const counted = `${readElement(segment, 1)} segments of set ${readElement(segment, 2)}`;
      const found = `${payment.segments} of ${payment.control}`;
      throw createMalformed(describePlace(segment), `names ${counted}, but there are ${found}`);
    }
    if (payment.amount === undefined || payment.day === undefined) {
      throw createMalformed(
        `segment ${payment.number}`,
        "begins a set without a payment's amount and date",
      );
    }
    if (!payment.isCredit) {
      this.#warn(`segment ${payment.number}`, "is a debit, which is skipped");
      return [];
    }
    return toRows(payment, this.#sender);
  }
}

const describePlace = ({ number }: Segment): string => `segment ${number}`;

const startPayment = (segment: Segment): Payment => ({
  number: segment.number,
  control: readElement(segment, 2),
  segments: 1,
  amount: undefined,
  day: undefined,
  method: "",
  isCredit: true,
  reference: "",
  originator: "",
  payer: undefined,
  currency: "USD",
  remittances: [],
});

const readAmount = (segment: Segment, place: number): unknown => {
  const amount = parseAmount(readElement(segment, place));
  if (amount === undefined)
    throw createMalformed(describePlace(segment), `has no amount in element ${place}`);
  return amount;
};

/** BPR16 is the settlement date; the older BPS has check number and date in elements 11 and 12. */
const readBeginning = (name: string, segment: Segment, payment: Payment): void => {
  const isOld = name === "BPS";
  payment.amount = readAmount(segment, 2);
  payment.day = parseCompactDay(readElement(segment, isOld ? 12 : 16));
  if (payment.day === undefined) throw createMalformed(describePlace(segment), "has no date");
  payment.method = METHODS.get(readElement(segment, isOld ? 1 : 4)) ?? "other";
  if (isOld) payment.reference = readElement(segment, 11);
  else payment.isCredit = readElement(segment, 3) !== "D";
};

const addRemittance = (segment: Segment, payment: Payment, place: number, total: string): void => {
  const cells = {
    invoiceNumber: readElement(segment, 2),
    appliedAmount: readAmount(segment, place),
    invoiceAmount: total === "" ? undefined : parseAmount(total),
  };
  payment.remittances.push({ number: segment.number, cells });
};

const addAdjustment = (segment: Segment, { remittances }: Payment): void => {
  const last = remittances.at(-1);
  const amount = readAmount(segment, 1);
  if (last === undefined || typeof amount !== "number") return;
  last.cells["deductionAmount"] = -amount;
  last.cells["deductionReasonCode"] ??= readElement(segment, 2);
};

const toRows = (payment: Payment, sender: string): Row[] => {
  const { amount, day, method, reference, originator, payer, currency, control } = payment;
  const facts = [sender, String(amount), String(day), reference || control, originator];
  const shared = {
    paymentId: derivePaymentId("edi820", ...facts),
    paymentDate: day,
    paymentMethod: method,
    paymentReference: reference,
    payerName: payer,
    currencyCode: currency,
    paymentAmount: amount,
    ...UNAPPLIED,
    remittanceSource: "edi820",
    remittanceId: reference,
  };
  if (payment.remittances.length === 0) {
    return [{ line: payment.number, cells: omitEmpty(shared) }];
  }
  return payment.remittances.map(({ number, cells }, place) => ({
    line: number,
    cells: omitEmpty({ ...shared, ...cells }),
    continues: place > 0,
  }));
};

/** Reads the remittances of the 820 sets of an X12 file, one row each. */
export const readEdi820: ReadBankFile = async function* readEdi820(bytes, warn) {
  const segments = new X12Reader(warn);
  const reader = new Edi820Reader(warn);
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    const items: Item[] = [];
    for (const segment of segments.push(decoder.decode(chunk, { stream: true }))) {
      items.push(...reader.segment(segment));
    }
    yield items;
  }
  yield segments.end().flatMap((segment) => reader.segment(segment));
};
