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
    title: "Precedents",
    lines: {
      "WK-50":
        "the packet says how disputes with the same reason ended, and names those most alike",
      "WK-51": "a proposal needs five cases and 60 % of them, says both, and is never applied",
    },
  },
  {
    title: "Urgency",
    lines: {
      "WK-52":
        "a note, a file or an answer counts as work; fifteen disputes fit one answer on ordinary data",
      "WK-53":
        "days of the call, the reason or the tenant give disputes days left, a flag and points",
    },
  },
  {
    title: "What happened",
    lines: {
      "WK-80":
        "what happened since a day or time, counted per kind, with who and when, and what cannot be seen",
    },
  },
];
