import type { Section } from "./section.ts";

/** Files that people attach: which are accepted, and how they are read. */
export const FILE_SECTIONS: readonly Section[] = [
  {
    title: "Files that are accepted",
    lines: {
      "FL-01": "limits of time and memory of a scan",
      "FL-02": "dangerous contents are refused",
      "FL-03": "warnings and true reasons",
      "FL-04": "PDF files by a maintained parser",
      "FL-05": "Office files, mails and archives of all programs",
      "FL-06": "pictures and films by their type",
      "FL-07": "small scanner, clamd for malware",
      "FL-08": ".jpg is sent as .jpeg; the way round for other types",
    },
  },
  {
    title: "Files that can be read",
    lines: {
      "WK-20": "files are read as text or pictures, page by page, and go on where an answer ended",
      "WK-21": "the text is sanitized and marked, and reading it is bounded and says why it fails",
      "WK-22": "the packet has everything that decides a dispute, and names what it leaves out",
    },
  },
];
