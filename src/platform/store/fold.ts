/** Text as it is compared where case does not matter; the same on every database because it is done here. */
export const fold = (text: string): string =>
  // Which of the two small sigmas is written depends on what follows; they are one letter.
  text.normalize("NFC").toLowerCase().replaceAll("ς", "σ");
