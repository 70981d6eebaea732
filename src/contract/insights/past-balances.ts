/**
 * Returns sentences about what balances of a past day rest on: the numbers of documents by records, payments, original
 * amount, and first known balance.
 */
export const describeBases = ([
  records = 0,
  payments = 0,
  original = 0,
  first = 0,
]: readonly number[]): string[] => [
  `Balances as of that day: ${records} documents by what was recorded, ${payments} by the original amount less payments, ${original} by the original amount alone.`,
  ...(first === 0
    ? []
    : [`${first} documents without an original amount count with their first known balance.`]),
];
