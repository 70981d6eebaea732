import type { Section } from "./section.ts";

/** Finished work in place of answers. */
export const WORK_SECTIONS: readonly Section[] = [
  {
    title: "Past days",
    lines: {
      "WK-30":
        "balances are recorded with each change, and summaries and overviews of past days follow them",
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
    title: "Filters and figures",
    lines: {
      "WK-46": "accounts of one name are told apart by city, country and parent",
      "WK-47": "groups over all currencies, closing reasons, measures, and possible duplicates",
      "WK-48": "a closed document's balance is 0, and day and reason of its closing can be read",
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
  {
    title: "Tables to keep",
    lines: {
      "WK-90": "a whole result is saved as a table that no spreadsheet computes, for who saved it",
      "WK-91": "views save their table, fill the screen and ask the assistant; all rows have pages",
      "WK-92": "a tool is called from a shell, and gives what it gives over MCP",
    },
  },
];
