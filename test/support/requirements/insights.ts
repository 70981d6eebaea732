import type { Section } from "./section.ts";

/** Answers to questions over many records. */
export const INSIGHT_SECTIONS: readonly Section[] = [
  {
    title: "Insights",
    lines: {
      "IN-58": "the list of tools stays within 12,500 tokens for a model and 30,000 in all",
    },
  },
];
