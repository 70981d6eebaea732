import type { Section } from "./section.ts";

/** How hosts, people and programs reach the server. */
export const REACH_SECTIONS: readonly Section[] = [
  {
    title: "Skills",
    lines: {
      "RC-01": "each task has a skill with a real example, whose tools and arguments exist",
      "RC-02": "the skills extension serves them, and its conformance scenarios pass",
      "RC-04": "the server card and its catalogue are readable by all and name no tenant",
    },
  },
];
