import type { Section } from "./section.ts";

/** The contents of files that people attach. */
export const FILE_SECTIONS: readonly Section[] = [
  {
    title: "Files that can be read",
    lines: {
      "WK-20": "files are read as text or pictures, page by page, and go on where an answer ended",
      "WK-21": "the text is sanitized and marked, and reading it is bounded and says why it fails",
      "WK-22": "the packet has everything that decides a dispute, and names what it leaves out",
    },
  },
];
