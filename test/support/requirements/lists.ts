import type { Section } from "./section.ts";

/** Contents of lists of tools, by caller. */
export const LIST_SECTIONS: readonly Section[] = [
  {
    title: "Lists of tools",
    lines: {
      "WK-02": "every argument has a description; each tool and output schema has a cap",
      "WK-03": "the core preset has the tools of daily work; tools give hosts words to search by",
      "WK-04": "a list offers only what the caller may use, and says when that changes",
    },
  },
];
