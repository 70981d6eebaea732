import type { Section } from "./section.ts";

/** Files of banks. */
export const MONEY_BANK_SECTIONS: readonly Section[] = [
  {
    title: "Money: bank messages",
    lines: {
      "MN-10":
        "returns are rows of their own, and what is no customer's payment is left out by name",
      "MN-11": "the entry's amount counts, and amounts of details never change the sum",
      "MN-13": "all remittance texts are kept, and all references are read",
      "MN-14": "structured remittances are bound to their own document, with sign and reason",
      "MN-15": "control totals are checked: wrong sums or sets refuse, wrong counts warn",
      "MN-16": "a day is the day that was written",
      "MN-17": "formats, envelopes, archives and encodings are told by content",
    },
  },
];
