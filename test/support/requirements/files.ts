import type { Section } from "./section.ts";

export const FILES_SECTIONS: readonly Section[] = [
  {
    title: "Files of people",
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
];
