/** Folds case for comparisons. The program does it, so that all databases compare alike. */
export const fold = (text: string): string =>
  // The form of the small sigma depends on its position in the word; both are one letter.
  text.normalize("NFC").toLowerCase().replaceAll("ς", "σ");
