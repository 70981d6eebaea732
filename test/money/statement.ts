import type { BankAccount, Booking } from "./truth.ts";

/** The content of a message about one account and day. */
export type Statement = {
  id: string;
  account: BankAccount;
  day: string;
  /** Balances in the smallest unit. */
  opening: number;
  closing: number;
  bookings: readonly Booking[];
};
