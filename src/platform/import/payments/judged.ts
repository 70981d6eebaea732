import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import type { Entry, EntryPayment } from "../bank/entry.ts";
import type { EntryFacts } from "./entry-facts.ts";
import type { Verdict } from "./joining.ts";
import type { Values } from "./row.ts";

/** A payment of an entry with its checked rows, which have no payment id yet. */
export type BankPayment = { entry: Entry; payment: EntryPayment; rows: readonly Values[] };

/** An entry of a batch with those of its payments that were accepted, and the decision on it. */
export type Judged = {
  facts: EntryFacts;
  /** The id of the entry that it repeats, if the file has its message twice. */
  repeats: string | undefined;
  entry: Entry;
  payments: readonly BankPayment[];
  known: PaymentEntryRow | undefined;
  verdict: Verdict;
  /** The ids of its payments, in order. */
  paymentIds: readonly string[];
  /** The id of the entry of a stored batch that it is, or may be, a payment of. */
  partOf?: string;
};
