/** Text as it is compared where case does not matter; the same on every database because it is done here. */
export const fold = (text: string): string => text.normalize("NFC").toLowerCase();
