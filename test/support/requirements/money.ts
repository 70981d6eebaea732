import type { Section } from "./section.ts";

/** Files of money: every amount is right to the cent. */
export const MONEY_SECTIONS: readonly Section[] = [
  {
    title: "Matching of payments",
    lines: {
      "MN-24": "a credit note reduces, whatever its sign, also one without an invoice",
      "MN-30": "only named documents of the same customer are paid, mentions suggest",
      "MN-31":
        "open is what payments and credits left, and a deduction what a final payment left short",
      "MN-32": "payments that came before their documents are matched when these come",
    },
  },
];
