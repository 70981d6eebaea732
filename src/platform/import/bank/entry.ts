/** The kinds of bank messages and remittance advices. */
export type MessageKind = "bai2" | "camt.052" | "camt.053" | "camt.054" | "edi820" | "mt940";

/** The message that an entry comes from, for instance a statement, a notification or a transaction set. */
export type Message = {
  kind: MessageKind;
  /**
   * The facts that tell this message from others of its kind: ids of message and statement, file number and time,
   * interchange, group and set control numbers.
   */
  identity: readonly string[];
};

/** A part of a remittance, about one document or about none; the values are fields of the catalogue. */
export type RemittanceLine = {
  line: number;
  /**
   * `invoiceNumber` is set only if the sender names it as a document (a structured reference or a remittance line).
   * `appliedAmount` is what is paid of the document, negative for a credit note that is used, absent if unknown; beside
   * it stand `invoiceAmount`, `discountTaken`, `deductionAmount`, `deductionReasonCode` and `poNumber`. Further
   * adjustments of a document are lines of their own with `appliedAmount` 0. An adjustment of no document has a
   * negative `appliedAmount`, so that the lines add up to the payment.
   */
  cells: Readonly<Record<string, unknown>>;
};

/** One payment of an entry: a transaction of its details, or the whole entry. */
export type EntryPayment = {
  line: number;
  /** Decimal text in the entry's currency, above zero; negative for a return. */
  amount: string;
  /** Fields of the catalogue that all rows of the payment share, without amounts, day, currency and payment id. */
  cells: Readonly<Record<string, unknown>>;
  /** All references of the transaction (trace, end-to-end id, check number …), without placeholders. */
  references: readonly string[];
  remittances: readonly RemittanceLine[];
  /** Only for a return of an earlier payment. */
  returned?: {
    /** The bank's code and text. */
    reason: string;
    /** References by which the returned payment can be found, those of the bank first. */
    references: readonly string[];
  };
  /** The payment ids that version 0.1.0 derived from the same record, so that its rows are found again. */
  formerIds: readonly string[];
};

/** A booked entry of a bank message, or a payment of a remittance advice, that concerns customers' payments. */
export type Entry = {
  line: number;
  message: Message;
  /** Position in the message, from 1. */
  place: number;
  /** The receiving account as written, or "". Only its last four characters are stored. */
  account: string;
  /** Decimal text: the entry's amount in the account's currency, negative for a debit that returns credits. */
  amount: string;
  currency: string;
  /** The day as written, `YYYY-MM-DD`. */
  day: string;
  /** The bank's own unique references of this entry, or none. */
  bankReferences: readonly string[];
  /** What the bank says about the payments that it booked together, or of which this is one. */
  batch?: {
    /** The reference of the collection or file, or "". */
    reference: string;
    /** The number of payments in the entry; 0 if it is not said. */
    count: number;
  };
  /** At least one; their amounts add up to the entry's amount. */
  payments: readonly EntryPayment[];
};

/** A record of a file that is not a customer's payment, and is named in the report instead of imported. */
export type LeftOut = {
  line: number;
  leftOut: {
    /** The bank's code of the kind of record, for instance `BAI2 354` or `PMNT/MCOP/INTR`. */
    type: string;
    reason: string;
    /** Decimal text, negative for a debit; absent if the record has no amount. */
    amount?: string;
    currency?: string;
    /** Only for two records that cancel each other: their amounts, which `amount` has the difference of. */
    both?: { credits: string; debits: string };
  };
};

/** An item that a reader of a bank format yields. */
export type BankItem = Entry | LeftOut;
