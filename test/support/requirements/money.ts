import type { Section } from "./section.ts";

/** Files of money: every amount is right to the cent. */
export const MONEY_SECTIONS: readonly Section[] = [
  {
    title: "Money: what always holds",
    lines: {
      "MN-01":
        "the payments of a file add up to its credits less returned ones, and the report says so",
      "MN-02": "every record of a file is counted once, and named if it is left out",
      "MN-03": "one payment is replaced by another only if every fact agrees or the bank says so",
      "MN-04": "rows of one file never replace each other",
      "MN-05": "exit status, dry run, list of imports and undo",
    },
  },
  {
    title: "Money: bank messages",
    lines: {
      "MN-10":
        "returns are rows of their own, and what is no customer's payment is left out by name",
      "MN-11": "the entry's amount counts, and amounts of details never change the sum",
      "MN-12": "several messages about one money are one payment, in whatever order they come",
      "MN-13": "all remittance texts are kept, and all references are read",
      "MN-14": "structured remittances are bound to their own document, with sign and reason",
      "MN-15": "control totals are checked: wrong sums or sets refuse, wrong counts warn",
      "MN-16": "a day is the day that was written",
      "MN-17": "formats, envelopes, archives and encodings are told by content",
    },
  },
  {
    title: "Money: ledgers and tables",
    lines: {
      "MN-20":
        "amounts have the decimals of an ISO 4217 currency, and text with two readings is refused with both",
      "MN-21":
        "required columns and values are demanded, blank rows skipped, and lines of totals left out by name",
      "MN-22": "maps say how a file is written, and a map is suggested for a file of unknown form",
      "MN-23": "rows of one payment that contradict each other are refused, or added up by the map",
      "MN-24": "a credit note reduces, whatever its sign, also one without an invoice",
    },
  },
  {
    title: "Money: matching",
    lines: {
      "MN-30": "only named documents of the same customer are paid, mentions suggest",
      "MN-31":
        "open is what payments and credits left, and a deduction what a final payment left short",
      "MN-32": "payments that came before their documents are matched when these come",
      "MN-33": "mixtures of files in every format hold all of this against the generator's truth",
    },
  },
];
