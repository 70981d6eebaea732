/**
 * Estimates what a text costs at most in tokens, without a tokenizer: it cuts the text into the pieces that the common
 * tokenizers make and prices each piece at its worst likely case. Prose is overestimated, so an answer within its budget
 * stays within it. One pass over the characters; no pattern, so that no text makes it slower than linear.
 */

const LETTER = 1;
const DIGIT = 2;
const SPACE = 3;
const PUNCTUATION = 4;
const OTHER = 5;

const OTHER_SPACES =
  "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";

const asciiKind = (unit: number): number => {
  const character = String.fromCharCode(unit);
  if (/[a-z]/i.test(character)) return LETTER;
  if (/\d/.test(character)) return DIGIT;
  if (/\s/.test(character)) return SPACE;
  return unit > 0x20 && unit < 0x7f ? PUNCTUATION : OTHER;
};

/** The kind of each UTF-16 unit. */
const KINDS = new Uint8Array(0x1_00_00).fill(OTHER);
for (let unit = 0; unit < 0x80; unit += 1) KINDS[unit] = asciiKind(unit);
for (const space of OTHER_SPACES) KINDS[space.charCodeAt(0)] = SPACE;

const kindAt = (text: string, at: number): number =>
  at < text.length ? (KINDS[text.charCodeAt(at)] ?? OTHER) : 0;

const isUpper = (unit: number): boolean => unit >= 0x41 && unit <= 0x5a;
const VOWELS = new Set(Array.from("aeiouyAEIOUY", (vowel) => vowel.charCodeAt(0)));

const MAX_WORD = 40;

/** Prices letters: by syllables where they look like a word, else nearly by the letter. */
const priceLetters = (text: string, from: number, to: number): number => {
  const length = to - from;
  if (length <= 4) return 1;
  if (length > MAX_WORD) return length / 1.5;
  let [parts, vowels, wasUpper] = [1, 0, true];
  for (let at = from; at < to; at += 1) {
    const unit = text.charCodeAt(at);
    if (VOWELS.has(unit)) vowels += 1;
    const upper = isUpper(unit);
    if (upper && !wasUpper) parts += 1;
    wasUpper = upper;
  }
  const isWord = vowels / length > 0.24 && length / parts > 2.5;
  return isWord ? Math.max(parts, Math.ceil(length / 5)) : length / 1.5;
};

/** Prices letters and digits that follow one another, such as a code or an id. */
const priceMixed = (text: string, from: number, to: number): number => {
  let [letters, upper] = [0, 0];
  for (let at = from; at < to; at += 1) {
    const unit = text.charCodeAt(at);
    if (KINDS[unit] !== LETTER) continue;
    letters += 1;
    if (isUpper(unit)) upper += 1;
  }
  const length = to - from;
  if (letters === 0) return Math.ceil(length / 3);
  return Math.max(1, length / (upper > 0 && upper < letters ? 1.35 : 1.6));
};

// Kana, the common part of Han, hangul: other characters of this range cost twice that.
const isCommonScript = (point: number): boolean =>
  (point >= 0x3040 && point <= 0x30ff) ||
  (point >= 0x4e00 && point <= 0x99ff) ||
  (point >= 0xac00 && point <= 0xd7a3);

const priceOther = (point: number): number => {
  if (point < 0x800) return 1;
  if (isCommonScript(point)) return 1.3;
  return point > 0xffff ? 4 : 2.5;
};

/** The end of the piece that begins at `from`: units of this kind, or of the other one too. */
const runEnd = (text: string, from: number, kind: number, also = kind): number => {
  let at = from + 1;
  for (let found = kindAt(text, at); found === kind || found === also; found = kindAt(text, at)) {
    at += 1;
  }
  return at;
};

type Piece = { end: number; price: number };

/** Letters; the last one before a digit belongs to the code that follows. */
const wordAt = (text: string, from: number, piece: Piece): void => {
  const letters = runEnd(text, from, LETTER);
  const end = kindAt(text, letters) === DIGIT ? letters - 1 : letters;
  piece.end = end > from ? end : runEnd(text, from, LETTER, DIGIT);
  piece.price = end > from ? priceLetters(text, from, end) : priceMixed(text, from, piece.end);
};

/** Reads the piece that begins at `from` into `piece`, which is reused: an object per piece costs more than the piece. */
const pieceAt = (text: string, from: number, piece: Piece): void => {
  const kind = kindAt(text, from);
  if (kind === LETTER) return wordAt(text, from, piece);
  if (kind === OTHER) {
    const point = text.codePointAt(from) ?? 0;
    piece.end = from + (point > 0xffff ? 2 : 1);
    piece.price = priceOther(point);
    return undefined;
  }
  piece.end = kind === DIGIT ? runEnd(text, from, DIGIT, LETTER) : runEnd(text, from, kind);
  const length = piece.end - from;
  if (kind === DIGIT) piece.price = priceMixed(text, from, piece.end);
  else if (kind === PUNCTUATION) piece.price = length <= 2 ? 1 : length / 1.3;
  else piece.price = kindAt(text, piece.end) === DIGIT ? length : Math.floor(length / 2);
  return undefined;
};

const MARGIN = 1.02;

/** The most tokens that a text costs. Counting stops once the text costs more than `most`. */
export const estimateTokens = (text: string, most = Infinity): number => {
  const piece: Piece = { end: 0, price: 0 };
  let sum = 0;
  while (piece.end < text.length && sum * MARGIN <= most) {
    pieceAt(text, piece.end, piece);
    sum += piece.price;
  }
  return Math.ceil(sum * MARGIN);
};

// The largest cost of a UTF-16 unit, with the margin.
const MOST_A_UNIT = 2.6;

/** Whether a text costs so many tokens at most; a short one is not counted. */
export const isWithin = (text: string, tokens: number): boolean =>
  text.length * MOST_A_UNIT <= tokens || estimateTokens(text, tokens) <= tokens;
