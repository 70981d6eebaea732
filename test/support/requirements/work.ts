import type { Section } from "./section.ts";

/** Finished work in place of answers. */
export const WORK_SECTIONS: readonly Section[] = [
  {
    title: "Deductions and claims",
    lines: {
      "WK-40": "deductions that no dispute explains, one dispute for each, with a proposed reason",
      "WK-41":
        "up to 50 claims are checked at once, confirmed once, opened one by one, and never opened twice",
      "WK-42":
        "lines of a claim find their documents, payments and reasons, and say what is doubtful",
      "WK-43": "sums of deductions of one payment, and later payments, explain a dispute",
      "WK-44": "filters of payments take days relative to the run: the tenant's, of each run",
      "WK-45":
        "filters in place of a list, notes on changes, old and new values, a question about amounts, the PO number of the document",
    },
  },
  {
    title: "Precedents",
    lines: {
      "WK-50":
        "the packet says how disputes with the same reason ended, and names those most alike",
      "WK-51": "a proposal needs five cases and 60 % of them, says both, and is never applied",
    },
  },
];
