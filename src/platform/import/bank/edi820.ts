import type { Item, Row } from "../rows.ts";
import {
  amountOf,
  dayOf,
  given,
  malformed,
  paymentIdOf,
  type ReadBankFile,
  UNAPPLIED,
  type Warn,
} from "./file.ts";
import { type Segment, X12Reader } from "./x12.ts";

// Segment layouts: ASC X12 transaction set 820, versions 003010 (BPS, RMT) and 005010 (BPR, TRN, RMR, ADX).
const METHODS: Record<string, string> = {
  ACH: "ach",
  CHK: "check",
  PBC: "check",
  FWT: "wire",
  SWT: "wire",
  FEW: "wire",
  CCC: "card",
};

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

const at = ({ elements }: Segment, place: number): string => elements[place]?.trim() ?? "";

/** Follows interchanges, groups and transaction sets, and gathers each payment with its remittances. */
class Edi820Reader {
  readonly #warn: Warn;
  #sender = "";
  #payment: Payment | undefined;
  #isForeign = false;

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  segment(segment: Segment): Row[] {
    const name = at(segment, 0);
    if (name === "ISA") this.#sender = at(segment, 6);
    if (this.#payment === undefined) return this.#outside(name, segment);
    this.#payment.segments += 1;
    if (name === "SE") return this.#close(segment, this.#payment);
    if (["ST", "GS", "GE", "IEA", "ISA"].includes(name)) {
      throw malformed(placeOf(segment), `is ${name}, before SE has ended the transaction set`);
    }
    this.#inside(name, segment, this.#payment);
    return [];
  }

  #outside(name: string, segment: Segment): Row[] {
    if (this.#isForeign) {
      this.#isForeign = name !== "SE";
      return [];
    }
    if (name === "ST" && at(segment, 1) !== "820") {
      this.#warn(placeOf(segment), `begins a ${at(segment, 1)}, which is passed over`);
      this.#isForeign = true;
      return [];
    }
    if (name === "ST") this.#payment = begun(segment);
    else if (!["ISA", "GS", "GE", "IEA", "TA1"].includes(name)) {
      throw malformed(placeOf(segment), "stands in no transaction set");
    }
    return [];
  }

  #inside(name: string, segment: Segment, payment: Payment): void {
    if (name === "BPR" || name === "BPS") beginning(name, segment, payment);
    if (name === "TRN") {
      payment.reference = at(segment, 2);
      payment.originator = at(segment, 3);
    }
    if (name === "CUR") payment.currency = at(segment, 2) || payment.currency;
    if (name === "N1" && at(segment, 1) === "PR") payment.payer = at(segment, 2) || undefined;
    if (name === "RMR") remitted(segment, payment, 4, at(segment, 5));
    if (name === "RMT" && at(segment, 1) === "IV") remitted(segment, payment, 3, "");
    if (name === "ADX") adjusted(segment, payment);
  }

  #close(segment: Segment, payment: Payment): Row[] {
    this.#payment = undefined;
    if (at(segment, 1) !== String(payment.segments) || at(segment, 2) !== payment.control) {
      const counted = `${at(segment, 1)} segments of set ${at(segment, 2)}`;
      const found = `${payment.segments} of ${payment.control}`;
      throw malformed(placeOf(segment), `tells of ${counted} where there are ${found}`);
    }
    if (payment.amount === undefined || payment.day === undefined) {
      throw malformed(
        `segment ${payment.number}`,
        "begins a set without a payment's amount and date",
      );
    }
    if (!payment.isCredit) {
      this.#warn(`segment ${payment.number}`, "is a debit, which is passed over");
      return [];
    }
    return rowsOf(payment, this.#sender);
  }
}

const placeOf = ({ number }: Segment): string => `segment ${number}`;

const begun = (segment: Segment): Payment => ({
  number: segment.number,
  control: at(segment, 2),
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

const amountAt = (segment: Segment, place: number): unknown => {
  const amount = amountOf(at(segment, place));
  if (amount === undefined) throw malformed(placeOf(segment), `has no amount in element ${place}`);
  return amount;
};

/** BPR16 is the day the money moves; the older BPS has its check number and date at its end. */
const beginning = (name: string, segment: Segment, payment: Payment): void => {
  const isOld = name === "BPS";
  payment.amount = amountAt(segment, 2);
  payment.day = dayOf(at(segment, isOld ? 12 : 16));
  if (payment.day === undefined) throw malformed(placeOf(segment), "has no date");
  payment.method = METHODS[at(segment, isOld ? 1 : 4)] ?? "other";
  if (isOld) payment.reference = at(segment, 11);
  else payment.isCredit = at(segment, 3) !== "D";
};

const remitted = (segment: Segment, payment: Payment, place: number, total: string): void => {
  const cells = {
    invoiceNumber: at(segment, 2),
    appliedAmount: amountAt(segment, place),
    invoiceAmount: total === "" ? undefined : amountOf(total),
  };
  payment.remittances.push({ number: segment.number, cells });
};

const adjusted = (segment: Segment, { remittances }: Payment): void => {
  const last = remittances.at(-1);
  const amount = amountAt(segment, 1);
  if (last === undefined || typeof amount !== "number") return;
  last.cells["deductionAmount"] = -amount;
  last.cells["deductionReasonCode"] ??= at(segment, 2);
};

const rowsOf = (payment: Payment, sender: string): Row[] => {
  const { amount, day, method, reference, originator, payer, currency, control } = payment;
  const facts = [sender, String(amount), String(day), reference || control, originator];
  const shared = {
    paymentId: paymentIdOf("edi820", ...facts),
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
    return [{ line: payment.number, cells: given({ ...shared, unappliedAmount: amount }) }];
  }
  return payment.remittances.map(({ number, cells }) => ({
    line: number,
    cells: given({ ...shared, ...cells }),
  }));
};

/** The remittances of the 820 sets of an X12 file, a row for each. */
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
