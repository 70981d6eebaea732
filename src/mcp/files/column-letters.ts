const LETTERS = 26;

/** Returns the letters of a column, counted from 0: A to Z, AA to ZZ and so on. */
export const lettersOf = (place: number): string => {
  const last = String.fromCharCode("A".charCodeAt(0) + (place % LETTERS));
  return place < LETTERS ? last : lettersOf(Math.floor(place / LETTERS) - 1) + last;
};
