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
    title: "Tables to keep",
    lines: {
      "WK-90": "a whole result is saved as a table that no spreadsheet computes, for who saved it",
      "WK-91": "views save their table, fill the screen and ask the assistant; all rows have pages",
      "WK-92": "a tool is called from a shell, and gives what it gives over MCP",
    },
  },
];
