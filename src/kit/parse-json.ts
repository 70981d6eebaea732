/** Parses JSON without losing digits of its numbers. */
import { randomToken } from "./ids.ts";
import { findClosingQuote, InexactNumber, isDigit, MAX_DIGITS, POINT, QUOTE } from "./json.ts";

const ZERO = 0x30;
/** Whether this is `e` or `E`. */
const isExponent = (unit: number): boolean => unit === 0x65 || unit === 0x45;

/** Counts significant digits: without sign, point, exponent, leading and trailing zeros. */
const countSignificantDigits = (source: string): number => {
  let [digits, trailingZeros] = [0, 0];
  for (let at = 0; at < source.length; at += 1) {
    const unit = source.charCodeAt(at);
    if (isExponent(unit)) break;
    if (!isDigit(unit) || (digits === 0 && unit === ZERO)) continue;
    digits += 1;
    trailingZeros = unit === ZERO ? trailingZeros + 1 : 0;
  }
  return digits - trailingZeros;
};

/**
 * Whether a text may have a number of more than 15 digits. Only such numbers are checked, since all others survive the
 * round trip through a double. A pattern would take time by the length of each run of digits.
 */
const mayHaveLongNumber = (text: string): boolean => {
  const isPart = (at: number): boolean => {
    const unit = text.charCodeAt(at);
    return isDigit(unit) || unit === POINT;
  };
  // A run of 16 has one character at a multiple of 16, so that the others need no look.
  for (let at = 0; at < text.length; at += MAX_DIGITS + 1) {
    if (!isPart(at)) continue;
    let [from, to] = [at, at + 1];
    while (from > 0 && to - from <= MAX_DIGITS && isPart(from - 1)) from -= 1;
    while (to < text.length && to - from <= MAX_DIGITS && isPart(to)) to += 1;
    if (to - from > MAX_DIGITS) return true;
  }
  return false;
};

/** Marks a number in text that is parsed; random, so that no foreign text has it. */
const MARK = randomToken();
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

const [PLUS, MINUS] = [0x2b, 0x2d] as const;
const isNumberPart = (unit: number): boolean =>
  isDigit(unit) || unit === POINT || unit === MINUS || unit === PLUS || isExponent(unit);

const isInexact = (token: string): boolean =>
  token.length > MAX_DIGITS && countSignificantDigits(token) > MAX_DIGITS && NUMBER.test(token);

/** Returns JSON text with an object in place of each number that a double would change; undefined without such numbers. */
const markInexact = (text: string): string | undefined => {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = findClosingQuote(text, at + 1);
    else if (isDigit(unit) || unit === MINUS) {
      let end = at + 1;
      while (end < text.length && isNumberPart(text.charCodeAt(end))) end += 1;
      if (end - at > MAX_DIGITS) {
        const token = text.slice(at, end);
        if (isInexact(token)) {
          parts.push(text.slice(from, at), `{"${MARK}":"${token}"}`);
          from = end;
        }
      }
      at = end - 1;
    }
  }
  return parts.length === 0 ? undefined : parts.join("") + text.slice(from);
};

/** Puts an {@link InexactNumber} in place of each marked number. */
const restoreInexact = (value: unknown): unknown => {
  const root = { value };
  const open: object[] = [root];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const fields = one as Record<string, unknown>;
    for (const name of Object.keys(fields)) {
      const child = fields[name];
      if (typeof child !== "object" || child === null) continue;
      const source = (child as Record<string, unknown>)[MARK];
      if (typeof source === "string") fields[name] = new InexactNumber(source);
      else open.push(child);
    }
  }
  return root.value;
};

/**
 * Parses JSON. Numbers that a double would change become {@link InexactNumber}. A function that `JSON.parse` calls for
 * each value would take a second for a megabyte of short ones.
 *
 * @throws {SyntaxError}
 */
export const parseJson = (text: string): unknown => {
  const marked = mayHaveLongNumber(text) ? markInexact(text) : undefined;
  return marked === undefined ? JSON.parse(text) : restoreInexact(JSON.parse(marked));
};
