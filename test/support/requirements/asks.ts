import type { Section } from "./section.ts";

/** The ways in which a person says yes, in every host. */
export const ASK_SECTIONS: readonly Section[] = [
  {
    title: "A person's yes",
    lines: {
      "WK-10": "form, view, page, then the setting",
      "WK-11": "a question that is declined faster than a person reads counts as unanswered",
      "WK-12": "the confirmation view and its tickets",
      "WK-13": "the approval page for a signed-in browser",
      "WK-14": "the audit entry says how a change was confirmed",
    },
  },
];
