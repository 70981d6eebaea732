const MAX_TEXT = 2000;
const SEPARATOR = " / ";
const CUT = "…";

/** Blanks other than one space. */
const UNEVEN = /\s\s|[^\S ]/;

/** Joins the remittance texts of a payment, each once, and cuts the result to the length of the field. */
export const joinTexts = (parts: Iterable<string>): string => {
  const texts = new Set<string>();
  let length = 0;
  for (const part of parts) {
    const text = (UNEVEN.test(part) ? part.replaceAll(/\s+/g, " ") : part).trim();
    if (text === "" || texts.has(text)) continue;
    texts.add(text);
    length += text.length + SEPARATOR.length;
    if (length > MAX_TEXT + SEPARATOR.length) break;
  }
  const joined = [...texts].join(SEPARATOR);
  if (joined.length <= MAX_TEXT) return joined;
  const shortened = joined.slice(0, MAX_TEXT - CUT.length);
  // A half surrogate pair at the cut would be no valid text.
  return `${shortened.isWellFormed() ? shortened : shortened.slice(0, -1)}${CUT}`;
};

// "NONREF" is SWIFT's for "no reference", "NOTPROVIDED" that of ISO 20022 guidelines; others pad with zeros. Where field
// 61 of MT940 has only the code of a reference, such as "KREF+" or "EREF", the reference itself is in field 86.
const PLACEHOLDER =
  /^(?:NON-?REF|NO[ -]?REF(?:ERENCE)?|NOT?[ -]?PROVIDED|NONE|N\/?A|UNKNOWN|[EKMPR]REF\+?|MARF|0+|-+)$/i;
const MAX_REFERENCES = 200;

/** Returns the distinct references without placeholders; those over the limit are in the text only. */
export const collectReferences = (references: Iterable<string | undefined>): string[] => {
  const found = new Set<string>();
  for (const reference of references) {
    const text = reference?.trim() ?? "";
    if (text === "" || PLACEHOLDER.test(text)) continue;
    found.add(text);
    if (found.size === MAX_REFERENCES) break;
  }
  return [...found];
};
