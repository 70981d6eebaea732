/**
 * Returns a number as it was sent and in capital letters: documented operations compare numbers exactly, and most have
 * capital letters.
 */
export const listSpellings = (number: string): string[] => [
  ...new Set([number, number.toUpperCase()]),
];

const isNumber = (field: string): boolean => /numbers?$/i.test(field);

/** Returns arguments with the values of account and document numbers in capital letters. */
export const capitalizeNumbers = (value: unknown, field = ""): unknown => {
  if (typeof value === "string") return isNumber(field) ? value.toUpperCase() : value;
  if (Array.isArray(value)) return value.map((one) => capitalizeNumbers(one, field));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    capitalizeNumbers(inner, isNumber(field) ? field : name),
  ]);
  return Object.fromEntries(entries);
};
