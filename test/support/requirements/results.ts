import type { Section } from "./section.ts";

/** Results that every host can show, and one vocabulary for arguments and results. */
export const RESULT_SECTIONS: readonly Section[] = [
  {
    title: "Results in every host",
    lines: {
      "WK-01": "a result is whole in structured content alone, and in text alone",
      "WK-01a": "resources by a tool, cursors of insights, and the new values of changed records",
      "WK-05": "the server has a description, a website and icons of at most 4 KB",
      "WK-06a": "one vocabulary for arguments, filters and results; each long list has a cursor",
      "HS-10": "outputs only gain optional fields, and platforms of the last two versions are read",
    },
  },
];
