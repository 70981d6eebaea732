/** Parses JSON without losing digits of its numbers. */
import { setImmediate } from "node:timers/promises";
import { randomToken } from "./ids.ts";
import { CHARACTERS_PER_TURN, findExceededLimitInTurns } from "./in-turns.ts";
import {
  COLON,
  type ExceededLimit,
  findClosingQuote,
  InexactNumber,
  isDigit,
  type JsonLimits,
  MAX_DIGITS,
  POINT,
  QUOTE,
} from "./json.ts";

const ZERO = 0x30;
const BLANKS: readonly number[] = [0x20, 0x09, 0x0a, 0x0d];
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

/** Marks a place in text that is parsed; random, so that no foreign text has it. */
const MARK = randomToken().slice(0, 22);
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

const [PLUS, MINUS] = [0x2b, 0x2d] as const;
const isSign = (unit: number): boolean => unit === MINUS || unit === PLUS;
const isNumberPart = (unit: number): boolean =>
  isDigit(unit) || unit === POINT || isSign(unit) || isExponent(unit);

/** Whether a colon follows: only a text can be the name of a field, so that what is in place of one is no JSON. */
const isBeforeColon = (text: string, end: number): boolean => {
  let at = end;
  while (BLANKS.includes(text.charCodeAt(at))) at += 1;
  return text.charCodeAt(at) === COLON;
};

const isInexact = (token: string): boolean =>
  token.length > MAX_DIGITS && countSignificantDigits(token) > MAX_DIGITS && NUMBER.test(token);

/** Returns JSON text with a text in place of each number that a double would change; undefined without such numbers. */
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
        if (isInexact(token) && !isBeforeColon(text, end)) {
          parts.push(text.slice(from, at), `"${MARK}${token}"`);
          from = end;
        }
      }
      at = end - 1;
    }
  }
  return parts.length === 0 ? undefined : parts.join("") + text.slice(from);
};

/** Puts in place of each text that begins with the mark what a function makes of the rest of it. */
const restoreMarked = (value: unknown, restore: (rest: string) => unknown): unknown => {
  const root = { value };
  const open: object[] = [root];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const fields = one as Record<string, unknown>;
    for (const name of Object.keys(fields)) {
      const child = fields[name];
      if (typeof child === "object" && child !== null) open.push(child);
      else if (typeof child === "string" && child.startsWith(MARK)) {
        fields[name] = restore(child.slice(MARK.length));
      }
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
  return marked === undefined
    ? JSON.parse(text)
    : restoreMarked(JSON.parse(marked), (digits) => new InexactNumber(digits));
};

type Span = readonly [from: number, end: number];

/** Returns the whole number of which a scan found the digits; undefined for the digits of an exponent. */
const toNumberSpan = (text: string, digits: Span): Span | undefined => {
  let [from, end] = digits;
  while (end < text.length && isNumberPart(text.charCodeAt(end))) end += 1;
  if (isSign(text.charCodeAt(from - 1))) from -= 1;
  return isExponent(text.charCodeAt(from - 1)) ? undefined : [from, end];
};

/** Collects the largest arrays and objects that fit a turn, and the long numbers outside of them, in their order. */
const createPartVisitor = (text: string) => {
  const parts: Span[] = [];
  /** For each open array or object, its place and the number of parts before it. */
  const open: (readonly [at: number, before: number])[] = [];
  return {
    parts,
    open: (at: number) => void open.push([at, parts.length]),
    close(end: number): void {
      const [from, before] = open.pop() ?? [0, 0];
      if (end - from > CHARACTERS_PER_TURN) return;
      parts.length = before;
      parts.push([from, end]);
    },
    longNumber(from: number, end: number): void {
      const span = toNumberSpan(text, [from, end]);
      if (span !== undefined) parts.push(span);
    },
  };
};

/** Parses parts of a text, with turns of the event loop in between. @throws {SyntaxError} */
const parseParts = async (text: string, parts: readonly Span[]): Promise<unknown[]> => {
  const values: unknown[] = [];
  let inTurn = 0;
  for (const [from, end] of parts) {
    if (isBeforeColon(text, end)) throw new SyntaxError("a name of a field is no text");
    values.push(parseJson(text.slice(from, end)));
    inTurn += end - from;
    if (inTurn < CHARACTERS_PER_TURN) continue;
    inTurn = 0;
    await setImmediate();
  }
  return values;
};

/** Returns a text with a mark in place of each part. */
const markParts = (text: string, parts: readonly Span[]): string => {
  let last = 0;
  const pieces = parts.map(([from, end], index) => {
    const before = text.slice(last, from);
    last = end;
    return `${before}"${MARK}${index}"`;
  });
  return pieces.join("") + text.slice(last);
};

/**
 * Checks the limits of JSON text and parses it as {@link parseJson} does. A long one is read part by part, with turns of
 * the event loop in between: the parser alone takes a tenth of a second for 5 MB of small objects.
 *
 * @throws {SyntaxError}
 */
export const parseJsonInTurns = async (
  text: string,
  limits: JsonLimits,
): Promise<{ exceeded: ExceededLimit } | { value: unknown }> => {
  const visitor = createPartVisitor(text);
  const exceeded = await findExceededLimitInTurns(text, limits, visitor);
  if (exceeded !== undefined) return { exceeded };
  if (text.length <= CHARACTERS_PER_TURN) return { value: parseJson(text) };
  await setImmediate();
  const values = await parseParts(text, visitor.parts);
  const rest: unknown = JSON.parse(markParts(text, visitor.parts));
  await setImmediate();
  return { value: restoreMarked(rest, (index) => values[Number(index)]) };
};
