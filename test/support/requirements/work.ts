import type { Section } from "./section.ts";

/** Finished work in place of answers. */
export const WORK_SECTIONS: readonly Section[] = [
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
    title: "Moving in",
    lines: {
      "WK-48":
        "notes, notes on accounts and users come with author and date, a dispute with its updateDate",
    },
  },
  {
    title: "Prompts",
    lines: {
      "WK-95":
        "prompts draft a reply, take claims in, close a month and brief on the day, within 2,500 tokens",
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
