import type { Entry, EntryPayment, LeftOut } from "./bank/entry.ts";
import type { Row, Unreadable } from "./rows.ts";

/** A payment of an entry of a bank file; payments of one entry follow each other. */
export type PaymentItem = { line: number; entry: Entry; payment: EntryPayment };

/** A part of a file, as an import reads it. */
export type Item = Row | Unreadable | PaymentItem | LeftOut;

export const isPayment = (item: Item): item is PaymentItem => "entry" in item;
export const isLeftOut = (item: Item): item is LeftOut => "leftOut" in item;
