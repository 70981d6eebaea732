// Most texts are ASCII, whose letters have one form.
const ASCII = /^[\x20-\x7e]*$/;

/** Folds case for comparisons. The program does it, so that all databases compare alike. */
export const fold = (text: string): string =>
  ASCII.test(text)
    ? text.toLowerCase()
    : // The form of the small sigma depends on its position in the word; both are one letter.
      text.normalize("NFC").toLowerCase().replaceAll("ς", "σ");
