import type { Section } from "./section.ts";

/** Finished work in place of answers. */
export const WORK_SECTIONS: readonly Section[] = [
  {
    title: "Past days",
    lines: {
      "WK-30":
        "balances are recorded with each change, and summaries and overviews of past days follow them",
      "WK-31":
        "a statement adds up to the balances of past days, with one line for what is unexplained",
    },
  },
  {
    title: "Deductions and claims",
    lines: {
      "WK-40": "deductions that no dispute explains, one dispute for each, with a proposed reason",
      "WK-42":
        "lines of a claim find their documents, payments and reasons, and say what is doubtful",
      "WK-43": "sums of deductions of one payment, and later payments, explain a dispute",
    },
  },
  {
    title: "Parents and groups",
    lines: {
      "WK-60": "summaries by parent and account group, each record once, in chains and circles too",
      "WK-61": "a family in one overview, and what it owes against the parent's credit limit",
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
