import type { BankAccount, Booking } from "./truth.ts";

/** What a message tells about one account and day. */
export type Statement = {
  id: string;
  account: BankAccount;
  day: string;
  /** Balances in the smallest unit. */
  opening: number;
  closing: number;
  bookings: readonly Booking[];
};
