import type { Source } from "../../../contract/payments/catalogue.ts";
import type { Making } from "../configuration.ts";
import type { Dispute } from "../disputes.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { bpn } from "./bpn.ts";
import { cashapp } from "./cashapp.ts";
import { iandp } from "./iandp.ts";
import { received } from "./receipts.ts";
import type { Payment } from "./row.ts";

/** The rows of each source in the order in which they were loaded. */
export type Payments = Readonly<Record<Source, readonly Payment[]>>;

/** How what a ledger says was paid came in: by bank, through the portal, through the network. */
export const payments = (
  making: Making,
  ledger: Ledger,
  disputes: readonly Dispute[],
): Payments => {
  const { receipts, untouched } = received(making.dice, ledger, disputes);
  return {
    cashapp: cashapp(making, receipts.cashapp, ledger.accounts),
    iandp: iandp(making, receipts.iandp, untouched.iandp),
    bpn: bpn(making, receipts.bpn, untouched.bpn),
  };
};
