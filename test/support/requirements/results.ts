import type { Section } from "./section.ts";

/** Results that every host can show, and one vocabulary for arguments and results. */
export const RESULT_SECTIONS: readonly Section[] = [
  {
    title: "Results in every host",
    lines: {
      "WK-01": "a result is whole in structured content alone, and in text alone",
    },
  },
];
