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
    title: "Filters and figures",
    lines: {
      "WK-46": "accounts of one name are told apart by city, country and parent",
      "WK-47": "groups over all currencies, closing reasons, measures, and possible duplicates",
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
    title: "Measures",
    lines: {
      "WK-70":
        "measures of a receivables department by their formulas, null with the reason where records do not reach",
    },
  },
  {
    title: "Moving in",
    lines: {
      "WK-48":
        "notes and users come with author and date; a closed document's balance is 0, its closing is told",
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
  {
    title: "Tables to keep",
    lines: {
      "WK-90": "a whole result is saved as a table that no spreadsheet computes, for who saved it",
      "WK-91": "views save their table, fill the screen and ask the assistant; all rows have pages",
      "WK-92": "a tool is called from a shell, and gives what it gives over MCP",
    },
  },
];
