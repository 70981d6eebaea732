import type { Section } from "./section.ts";

/** Packages, sign-in of companies, and proof. */
export const REACH_SECTIONS: readonly Section[] = [
  {
    title: "Skills and packages",
    lines: {
      "RC-03": "a package for each host works without a checkout, and a page says how to connect",
    },
  },
  {
    title: "Proof",
    lines: {
      "RC-20": "an auditor checks the log without our key: each alteration is found and named",
    },
  },
];
