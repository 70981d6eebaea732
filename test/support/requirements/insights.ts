import type { Section } from "./section.ts";

/** Answers to questions over many records. */
export const INSIGHT_SECTIONS: readonly Section[] = [
  {
    title: "Insights",
    lines: {
      "IN-01": "a result says when and by which conditions it was read, and whether it is complete",
      "IN-02": "arithmetic is exact decimal and never across currencies",
      "IN-03": "an answer costs at most 2,000 tokens on any data, totals before items",
      "IN-04": "unknown names are refused with the known ones and the nearest",
      "IN-05": "reading is bounded, and a partial answer says how far it got",
      "IN-06": "results equal SQL over the same data, on both stores",
      "IN-10": "payments group by fields, dates also by day, week, month, quarter and year",
      "IN-11": "measures count, add, average and find extremes; by default the source's amount",
      "IN-12": "amounts of a payment count once per payment, those of a line once per row",
      "IN-13": "dates ascend, other groups descend by the first sum, or as asked",
      "IN-14": "the rows with the largest or smallest value",
      "IN-15": "without a grouping one item per currency",
      "IN-20": "all conditions on disputes hold, a list means any, and letter case does not matter",
      "IN-21": "disputes as they stood at the end of a day",
      "IN-25": "disputes group by their properties, age and dates",
      "IN-26": "count, amount, oldest, average age and days to close, of groups and of the whole",
      "IN-27": "without a status all disputes count",
      "IN-30": "a triage item is short and without nulls",
      "IN-31": "the score adds its documented parts, and why names each",
      "IN-32": "flags count over everything that matched",
      "IN-33": "a triage makes at most 150 calls and counts what it did not read",
      "IN-42": "credit applications that wait, and the health of export schedules",
      "IN-46": "everything about one dispute in one reply",
      "IN-50": "a list is truncated whenever more exists, and has a cursor then",
      "IN-51": "rows of lists are short and without nulls",
      "IN-53": "every host's converter takes every tool; enumerations are words",
      "IN-58": "the list of tools stays within 12,500 tokens for a model and 30,000 in all",
      "IN-59": "an answer has 6,000 tokens and 25,000 characters, completeness first",
    },
  },
];
