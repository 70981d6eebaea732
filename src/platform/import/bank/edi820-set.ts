import { formatDecimal, type Big } from "./decimal.ts";
import {
  type Adjustment,
  bindReference,
  describePlace,
  type Document,
  type Part,
  readAdx,
  readAmount,
  readElement,
  readRmr,
  readRmt,
  toLines,
} from "./edi820-remittance.ts";
import type { BankItem, LeftOut } from "./entry.ts";
import {
  createMalformed,
  derivePaymentId,
  omitEmpty,
  parseAmount,
  parseCompactDay,
  takeLast4,
  UNAPPLIED,
} from "./file.ts";
import { collectReferences, joinTexts } from "./text.ts";
import type { Segment } from "./x12.ts";

const METHODS: ReadonlyMap<string, string> = new Map([
  ["ACH", "ach"],
  ["CHK", "check"],
  ["PBC", "check"],
  ["FWT", "wire"],
  ["SWT", "wire"],
  ["FEW", "wire"],
  ["CCC", "card"],
]);

// X12 data element 374, for a payment without a date in its BPR: settlement, effective, created, processed, received.
const PAYMENT_DAYS = ["234", "007", "097", "009", "050"];

/** Segments that begin a loop beside that of a remittance. */
const LOOPS: ReadonlySet<string> = new Set([
  "ENT",
  "LS",
  "LE",
  "N9",
  "LX",
  "TXP",
  "DED",
  "RYL",
  "PSA",
]);
const ITEMS: ReadonlySet<string> = new Set(["IT1", "SLN"]);

type Header = {
  amount: Big | undefined;
  /** The amount as written, from which version 0.1.0 derived ids. */
  written: string;
  day: string | undefined;
  /** What the receiver does with the set, BPR01. */
  handling: string;
  method: string;
  methodCode: string;
  isCredit: boolean;
  reference: string;
  originator: string;
  payer: string;
  payerAccount: string;
  account: string;
  currency: string;
};

/** The message around a set: facts that tell it from others. */
export type Interchange = { sender: string; identity: readonly string[] };

/** Collects one 820 set: a payment with its remittances. */
export class Edi820Set {
  readonly number: number;
  readonly control: string;
  segments = 1;
  readonly #header: Header = {
    amount: undefined,
    written: "",
    day: undefined,
    handling: "",
    method: "other",
    methodCode: "",
    isCredit: true,
    reference: "",
    originator: "",
    payer: "",
    payerAccount: "",
    account: "",
    currency: "USD",
  };
  readonly #days = new Map<string, string>();
  readonly #references: string[] = [];
  readonly #texts: string[] = [];
  readonly #parts: Part[] = [];
  #isHeader = true;
  /** Texts of the open entity, which its parts share. */
  #entity: string[] = [];
  /** The open remittance, to which an ADX belongs. */
  #document: Document | undefined;
  /** The owner of the next NTE and REF; undefined for the header, an entity, or an item of a document. */
  #owner: Document | Adjustment | undefined;
  #isItem = false;

  constructor(segment: Segment) {
    this.number = segment.number;
    this.control = readElement(segment, 2);
  }

  segment(segment: Segment): void {
    this.segments += 1;
    const name = readElement(segment, 0);
    if (LOOPS.has(name) || (name === "N1" && !this.#isHeader)) this.#beginLoop();
    if (ITEMS.has(name)) {
      this.#isItem = true;
      this.#owner = undefined;
    }
    if (name === "BPR" || name === "BPS") this.#readBeginning(name, segment);
    if (name === "TRN") this.#readTrace(segment);
    if (name === "CUR" && this.#isHeader)
      this.#header.currency = readElement(segment, 2) || this.#header.currency;
    if (name === "N1" && readElement(segment, 1) === "PR")
      this.#header.payer ||= readElement(segment, 2);
    if (name === "NM1") this.#readName(segment);
    if (name === "DTM" && this.#isHeader) this.#readDay(segment);
    if (name === "NTE") this.#addText(readElement(segment, 2));
    if (name === "REF") this.#readReference(segment);
    if (name === "RMR") this.#addDocument(readRmr(segment));
    if (name === "RMT") this.#readOldDocument(segment);
    if (name === "ADX") this.#addAdjustment(readAdx(segment));
  }

  #beginLoop(): void {
    this.#isHeader = false;
    this.#isItem = false;
    this.#entity = [];
    this.#document = undefined;
    this.#owner = undefined;
  }

  /**
   * BPR: 01 handling, 02 amount, 03 credit or debit, 04 method, 09 and 15 accounts of payer and payee, 16 date. The older BPS has
   * check number and date in the elements 11 and 12.
   */
  #readBeginning(name: string, segment: Segment): void {
    const header = this.#header;
    const isOld = name === "BPS";
    header.amount = readAmount(segment, 2);
    header.written = String(parseAmount(readElement(segment, 2)));
    const day = readElement(segment, isOld ? 12 : 16);
    header.day = parseCompactDay(day);
    if (day !== "" && header.day === undefined)
      throw createMalformed(describePlace(segment), "has no valid date");
    header.methodCode = readElement(segment, isOld ? 1 : 4);
    header.method = METHODS.get(header.methodCode) ?? "other";
    if (isOld) {
      header.reference = readElement(segment, 11);
      return;
    }
    header.handling = readElement(segment, 1);
    header.isCredit = readElement(segment, 3) !== "D";
    header.payerAccount = readElement(segment, 9);
    header.account = readElement(segment, 15);
  }

  #readTrace(segment: Segment): void {
    this.#header.reference = readElement(segment, 2);
    this.#header.originator = readElement(segment, 3);
    this.#references.push(readElement(segment, 2), readElement(segment, 4));
  }

  #readName(segment: Segment): void {
    const [last, first, id] = [3, 4, 9].map((place) => readElement(segment, place));
    this.#addText([first, last, id].filter((part) => part).join(" "));
  }

  #readDay(segment: Segment): void {
    const day = parseCompactDay(readElement(segment, 2));
    if (day !== undefined) this.#days.set(readElement(segment, 1), day);
  }

  #addText(text: string): void {
    if (this.#owner !== undefined) this.#owner.texts.push(text);
    else if (this.#isItem && this.#document !== undefined) this.#document.texts.push(text);
    else if (this.#isHeader) this.#texts.push(text);
    else this.#entity.push(text);
  }

  #readReference(segment: Segment): void {
    if (this.#owner !== undefined) {
      bindReference(segment, this.#owner);
      return;
    }
    this.#addText(readElement(segment, 3));
    if (this.#isHeader) this.#references.push(readElement(segment, 2));
    else this.#addText(readElement(segment, 2));
  }

  #addDocument(document: Document): void {
    this.#isHeader = false;
    this.#isItem = false;
    this.#document = document;
    this.#owner = document;
    this.#parts.push({ document, shared: this.#entity });
  }

  /** RMT of version 003010; those of items belong to no document. */
  #readOldDocument(segment: Segment): void {
    const document = readRmt(segment);
    if (document !== undefined) {
      this.#addDocument(document);
      return;
    }
    this.#isItem = true;
    this.#owner = undefined;
  }

  /** An ADX before the first remittance of an entity adjusts no document; a later one adjusts that remittance. */
  #addAdjustment(adjustment: Adjustment): void {
    this.#isHeader = false;
    this.#owner = adjustment;
    if (this.#document === undefined) this.#parts.push({ adjustment, shared: this.#entity });
    else this.#document.adjustments.push(adjustment);
  }

  /** Returns the payment, or the reason why it is none. */
  close(interchange: Interchange): BankItem {
    const { amount, handling, isCredit, currency, methodCode, day } = this.#header;
    // X12 data element 305: P is a prenotification of future transfers, by which accounts are tried.
    if (handling === "P")
      return this.#leaveOut("BPR01 P", "a prenotification, which moves no money");
    if (amount === undefined)
      throw createMalformed(`segment ${this.number}`, "begins a set without a payment's amount");
    if (amount.lt(0))
      throw createMalformed(`segment ${this.number}`, "begins a set with a negative amount");
    const text = formatDecimal(amount, currency);
    // X12 data element 478: D is a debit of the payer's creditor; 591: NON is data without a payment.
    if (!isCredit) return this.#leaveOut("BPR03 D", "a debit, not a payment", `-${text}`);
    if (methodCode === "NON") return this.#leaveOut("BPR04 NON", "data without a payment");
    if (amount.eq(0)) return this.#leaveOut("BPR02 0", "the amount is zero", text);
    const found = day ?? this.#findDay();
    if (found === undefined)
      throw createMalformed(`segment ${this.number}`, "begins a set without a date of the payment");
    return this.#toEntry(interchange, amount, found);
  }

  #findDay(): string | undefined {
    for (const qualifier of PAYMENT_DAYS) {
      const day = this.#days.get(qualifier);
      if (day !== undefined) return day;
    }
    return undefined;
  }

  #leaveOut(type: string, reason: string, amount?: string): LeftOut {
    const { currency } = this.#header;
    const money = amount === undefined ? {} : { amount, currency };
    return { line: this.number, leftOut: { type: `820 ${type}`, reason, ...money } };
  }

  #toEntry({ sender, identity }: Interchange, amount: Big, day: string): BankItem {
    const header = this.#header;
    const { reference, originator, currency, account } = header;
    const cells = omitEmpty({
      paymentMethod: header.method,
      paymentReference: reference,
      payerName: header.payer,
      payerAccountLast4: takeLast4(header.payerAccount),
      ...UNAPPLIED,
      remittanceSource: "edi820",
      remittanceId: reference,
      bankAccountLast4: takeLast4(account),
      remittanceText: joinTexts(this.#texts),
    });
    // Version 0.1.0 refused a set whose BPR has no date, and gave no id to it.
    const former = [
      sender,
      header.written,
      header.day ?? "",
      reference || this.control,
      originator,
    ];
    const text = formatDecimal(amount, currency);
    const payment = {
      line: this.number,
      amount: text,
      cells,
      references: collectReferences([reference, ...this.#references]),
      remittances: toLines(amount, this.#parts, this.#texts),
      formerIds: header.day === undefined ? [] : [derivePaymentId("edi820", ...former)],
    };
    return {
      line: this.number,
      message: { kind: "edi820", identity: [...identity, this.control] },
      place: 1,
      account,
      amount: text,
      currency,
      day,
      bankReferences: [],
      payments: [payment],
    };
  }
}
