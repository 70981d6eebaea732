import { createTypeTable } from "./types.ts";

/**
 * Transaction codes (GVC) of German banks, in :86: of MT940 and in the proprietary code of camt: Deutsche Kreditwirtschaft,
 * "Geschäftsvorfallcodes".
 */
export const GVC_TYPES = createTypeTable([
  {
    take: true,
    reason: "a customer's payment",
    types: [
      ["GVC 152", "Standing order, credit"],
      ["GVC 166", "SEPA credit transfer, credit"],
      ["GVC 167", "SEPA credit transfer with a creditor reference, credit"],
      ["GVC 168", "SEPA instant credit transfer, credit"],
      ["GVC 169", "SEPA credit transfer (donation), credit"],
      ["GVC 170", "Cheque deposit"],
      ["GVC 171", "SEPA direct debit (CORE), collection"],
      ["GVC 174", "SEPA direct debit (B2B), collection"],
      ["GVC 192", "SEPA direct debits (CORE), collection in total"],
      ["GVC 194", "SEPA credit transfers, credit in total"],
      ["GVC 196", "SEPA direct debits (B2B), collection in total"],
    ],
  },
  {
    take: true,
    reason: "returns a customer's payment",
    types: [
      ["GVC 108", "SEPA direct debit (B2B), returned"],
      ["GVC 109", "SEPA direct debit (CORE), returned"],
      ["GVC 111", "Cheque returned"],
    ],
  },
  {
    take: false,
    reason: "gives back a payment of the company's own",
    types: [
      ["GVC 159", "SEPA credit transfer, returned"],
      ["GVC 160", "SEPA instant credit transfer, returned"],
      ["GVC 181", "SEPA direct debit (CORE), refunded"],
      ["GVC 183", "Cheque, given back"],
      ["GVC 184", "SEPA direct debit (B2B), refunded"],
    ],
  },
  {
    take: false,
    reason: "a transfer between the company's own accounts",
    types: [
      ["GVC 820", "Transfer between own accounts"],
      ["GVC 833", "Cash concentration"],
      ["GVC 834", "Cash concentration, advice"],
    ],
  },
  {
    take: false,
    reason: "interest or charges, not a customer's payment",
    types: [
      ["GVC 805", "Settlement of the account"],
      ["GVC 808", "Charges"],
      ["GVC 809", "Commission"],
      ["GVC 811", "Cost of credit"],
      ["GVC 814", "Interest"],
      ["GVC 815", "Capitalized interest"],
      ["GVC 817", "Correction of interest"],
      ["GVC 819", "Remuneration"],
    ],
  },
  {
    take: false,
    reason: "a loan or deposit, not a customer's payment",
    types: [
      ["GVC 823", "Fixed-term deposit"],
      ["GVC 824", "Loan"],
      ["GVC 825", "Universal loan"],
      ["GVC 832", "Mortgage"],
    ],
  },
  {
    take: false,
    reason: "not a customer's payment",
    types: [
      ["GVC 3xx", "Securities"],
      ["GVC 4xx", "Foreign exchange"],
      ["GVC 6xx", "Loans"],
      ["GVC 899", "Cancellation of a booking"],
    ],
  },
]);

/** GVC of a debit that returns a credit. */
export const RETURNED_GVC: ReadonlySet<string> = new Set(["108", "109", "111"]);

/** Returns the candidates under which a GVC is listed: its own, then its group (2xx foreign, 3xx securities …). */
export const listGvc = (gvc: string): string[] =>
  /^\d{3}$/.test(gvc) ? [`GVC ${gvc}`, `GVC ${gvc.charAt(0)}xx`] : [];
