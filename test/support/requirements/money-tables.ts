import type { Section } from "./section.ts";

/** Ledgers and tables of any form. */
export const MONEY_TABLE_SECTIONS: readonly Section[] = [
  {
    title: "Money: ledgers and tables",
    lines: {
      "MN-20":
        "amounts have the decimals of an ISO 4217 currency, and text with two readings is refused with both",
      "MN-21":
        "required columns and values are demanded, blank rows skipped, and lines of totals left out by name",
      "MN-22": "maps say how a file is written, and a map is suggested for a file of unknown form",
      "MN-23": "a register with an amount per line is added up if the map says so",
    },
  },
];
