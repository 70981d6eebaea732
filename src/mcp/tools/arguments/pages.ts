/** Pages of a file, or its sheets or parts, counted from 1. */
export type PageRange = { first: number; last: number };

const RANGE = /^\s{0,9}(\d{1,6})(?:\s{0,9}-\s{0,9}(\d{1,6}))?\s{0,9}$/;

/** Parses `4` or `1-3`; undefined for anything else. */
export const parsePages = (text: string): PageRange | undefined => {
  const [, from, to = from] = RANGE.exec(text) ?? [];
  const [first, last] = [Number(from), Number(to)];
  return first >= 1 && last >= first ? { first, last } : undefined;
};
