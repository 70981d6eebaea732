/** One import of a file, or of the files of a ZIP. */
export type ImportRow = {
  tenant_id: string;
  id: string;
  kind: string;
  /** Name of the file, without its folder. */
  file: string;
  /** `running` for an import that was killed, `undoing` for one whose undo was. */
  status: "running" | "completed" | "stopped" | "undoing" | "undone";
  started_at: number;
  ended_at: number | null;
  /** Format, source, encoding, counts and totals as JSON. */
  report: string;
  /** The user of the operating system. */
  actor: string;
};

/** A record that an import created or changed, so that it can be taken back. */
export type ImportChangeRow = {
  tenant_id: string;
  import_id: string;
  /** From 1 for each import. */
  number: number;
  table_name: string;
  /** The values of the record's key columns after the tenant, as a JSON array. */
  record_key: string;
  /** The whole row before the change, as JSON; null if the import created it. */
  before: string | null;
  /** Hash of the row after the change, which shows whether it has changed since. */
  after: string;
};

/** An entry of a bank message or remittance advice. The payments of a doubtful or joined one belong to another, too. */
export type PaymentEntryRow = {
  tenant_id: string;
  /** Hash of every fact of the entry, its message, and its place among equal entries of the message. */
  id: string;
  import_id: string;
  /** The kind of message, or `table` for payments of a table. */
  kind: string;
  /** Hash of the message's kind and identity. */
  message: string;
  /** Hash of the receiving account; null if unknown. */
  account: string | null;
  /** Exact decimal, negative for a return. */
  amount: string;
  currency: string;
  day: string;
  /** The bank's own reference with the account, hashed; null if there is none. */
  bank_reference: string | null;
  /**
   * The reference of the collection or file of payments that it is of, or has, with the account; null if unknown. Of an
   * advice it is its trace number, without an account: a bank can have that for its batch.
   */
  batch_reference: string | null;
  /** The number of payments that the bank booked as this one entry; null if it does not say that there are several. */
  part_count: number | null;
  /** The entry of a batch that has this payment, too: as its part, or doubtful as long as `doubt` is open. */
  part_of: string | null;
  /** All references without spaces and letter case, as a JSON array. */
  reference_list: string;
  /** Payer and text without spaces, signs and letter case, at most 400 characters. */
  words: string;
  /** The ids of its payments as a JSON array, in order. */
  payment_ids: string;
  /** The number of documents and transactions that it names: the richer one of two messages about a payment is shown. */
  detail: number;
  /** The entry with the same money, whose payments are stored. */
  joined_to: string | null;
  /** The entry and the payment that it may repeat. Payments of tables have no entries. */
  doubt_of: string | null;
  doubt_payment_id: string | null;
  doubt: "open" | "same" | "different" | null;
  /** For a return: 1 if its payment is not known yet, 2 if it was found by payer and amount alone. */
  waits: 1 | 2 | null;
};

export type ImportTables = {
  imports: ImportRow;
  import_changes: ImportChangeRow;
  payment_entries: PaymentEntryRow;
};
