/** The effect of a number format. */
export type NumberFormat = {
  kind: "number" | "date" | "time";
  /** The least number of digits, where zeros are shown in front. */
  digits: number;
};

/** The format of a cell without one. */
export const PLAIN: NumberFormat = { kind: "number", digits: 1 };
const DATE: NumberFormat = { kind: "date", digits: 1 };
const TIME: NumberFormat = { kind: "time", digits: 1 };

// Formats with numbers instead of codes (ECMA-376 part 1, 18.8.30); 27 to 36 and 50 to 58 are dates in East Asia.
const DATES = [14, 15, 16, 17, 22];
const TIMES = [18, 19, 20, 21, 45, 46, 47];

/** Returns a format without a code by its number. */
export const STANDARD_FORMATS = (id: number): NumberFormat => {
  if (DATES.includes(id) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return DATE;
  return TIMES.includes(id) ? TIME : PLAIN;
};

// Quoted text, escaped characters, widths and fillings, and conditions, colours and languages in brackets.
const LITERALS = /"[^"]*"|\\.|[_*].|\[(?!h+\]|m+\]|s+\])[^[\]]*\]/gi;

/** Describes the format code of a style by its first section, which is that of positive numbers. */
export const describeFormat = (code: string): NumberFormat => {
  const [section = ""] = code.slice(0, 1000).replaceAll(LITERALS, "").split(";");
  const letters = section.toLowerCase().replaceAll(/general|standard|am\/pm|a\/p/g, "");
  if (/[yd]/.test(letters)) return DATE;
  const isTime = /[hs]/.test(letters);
  if (letters.includes("m")) return isTime ? TIME : DATE;
  if (isTime) return TIME;
  return { kind: "number", digits: /^0{2,}$/.test(section.trim()) ? section.trim().length : 1 };
};

const SIGNIFICANT_DIGITS = 15;
const MOST_DECIMALS = 6;
const TAIL = 1e-9;

/**
 * Returns a number as spreadsheets show it: with at most 15 significant digits, and without the tail that sums of
 * binary fractions leave (20.499999999999996 is 20.5).
 */
export const roundTail = (value: number): number => {
  const shown = Number(value.toPrecision(SIGNIFICANT_DIGITS));
  const scale = 10 ** MOST_DECIMALS;
  const rounded = Math.round(shown * scale) / scale;
  const isTail = rounded !== shown && Math.abs(rounded - shown) <= TAIL * Math.abs(shown);
  return isTail && Math.abs(shown) < Number.MAX_SAFE_INTEGER / scale ? rounded : shown;
};
