/** Longer names are none, with separators too. Replacing characters in megabytes takes a while. */
const LONGEST = 1000;

/** Returns a name without letter case and separators; a leading `-` stays, because in a sort it means descending. */
const toPlain = (name: string): string => name.toLowerCase().replaceAll(/[_\s]|(?<!^)-/g, "");

/** The plain forms of known names, of which there are some hundreds: a call may have ten thousand names to compare. */
const plainForms = new Map<string, string>();

const toKnownPlain = (known: string): string => {
  const found = plainForms.get(known);
  if (found !== undefined) return found;
  const plain = toPlain(known);
  plainForms.set(known, plain);
  return plain;
};

/**
 * Returns the one known name that differs from a name in letter case and separators alone; else the name itself. `known`
 * are names of the program, never of a request.
 */
export const findSpelling = (name: string, known: readonly string[]): string => {
  if (known.includes(name) || name.length > LONGEST) return name;
  const plain = toPlain(name);
  return known.find((one) => toKnownPlain(one) === plain) ?? name;
};
