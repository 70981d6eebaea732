/** Longer names are none, with separators too. Replacing characters in megabytes takes a while. */
const LONGEST = 1000;

/** Returns a name without letter case and separators; a leading `-` stays, because in a sort it means descending. */
const toPlain = (name: string): string => name.toLowerCase().replaceAll(/[_\s]|(?<!^)-/g, "");

/** Returns the one known name that differs from a name in letter case and separators alone; else the name itself. */
export const findSpelling = (name: string, known: readonly string[]): string => {
  if (known.includes(name) || name.length > LONGEST) return name;
  const plain = toPlain(name);
  return known.find((one) => toPlain(one) === plain) ?? name;
};
