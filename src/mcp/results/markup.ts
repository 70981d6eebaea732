/**
 * Escapes what begins markup:
 *
 * - `<`, as `&lt;`: HTML tags, comments, autolinks and mentions. It stays before a number or an operator, as in `< 100`
 *   and `<=`, and at the end.
 * - `![`, as `!\[`: pictures, which a renderer fetches by itself.
 * - `](`, as `]\(`: links.
 * - `]:`, as `]\:`: the definitions that links by reference resolve to.
 * - three or more backticks or tildes, each after a backslash: fenced blocks, which some hosts render as diagrams with
 *   links and pictures of their own.
 *
 * CommonMark shows a character after a backslash as it is. The backslash stands between the two characters, where no
 * other backslash can disarm it.
 */

const ASCII = 0x80;

/** One byte per ASCII character, 1 for each of these. */
const tableOf = (characters: string): Uint8Array => {
  const table = new Uint8Array(ASCII);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
};

const has = (table: Uint8Array, unit: number | undefined): boolean =>
  unit !== undefined && unit < ASCII && table[unit] === 1;

const [LESS, BANG, OPEN, BACKSLASH, SPACE] = [0x3c, 0x21, 0x5b, 0x5c, 0x20] as const;
const MARKUP = tableOf("<!]`~");
const FENCE = tableOf("`~");
const AFTER_CLOSE = tableOf("(:");
const AFTER_LESS = tableOf("0123456789.,=+-$");

const MOST_ADDED = 3;
const FENCE_LENGTH = 3;

const isComparison = (units: Uint16Array, at: number): boolean => {
  const next = units[at + 1] === SPACE ? units[at + 2] : units[at + 1];
  return next === undefined || has(AFTER_LESS, next);
};

const runLength = (units: Uint16Array, from: number): number => {
  let at = from + 1;
  while (at < units.length && units[at] === units[from]) at += 1;
  return at - from;
};

const needsBackslash = (units: Uint16Array, at: number): boolean =>
  units[at] === BANG ? units[at + 1] === OPEN : has(AFTER_CLOSE, units[at + 1]);

const countMarkup = (units: Uint16Array): number => {
  let count = 0;
  for (let at = 0; at < units.length; at += 1) if (has(MARKUP, units[at])) count += 1;
  return count;
};

/** Fills the output with these units and returns how many it now has. */
const escapeInto = (output: Uint16Array, units: Uint16Array): number => {
  let length = 0;
  for (let at = 0; at < units.length; at += 1) {
    const unit = units[at] ?? 0;
    if (unit === LESS && !isComparison(units, at)) {
      output[length] = 0x26;
      output[length + 1] = 0x6c;
      output[length + 2] = 0x74;
      output[length + 3] = 0x3b;
      length += 4;
    } else if (has(FENCE, unit)) {
      const run = runLength(units, at);
      for (let index = 0; index < run; index += 1) {
        if (run >= FENCE_LENGTH) output[length++] = BACKSLASH;
        output[length++] = unit;
      }
      at += run - 1;
    } else {
      output[length++] = unit;
      if (has(MARKUP, unit) && unit !== LESS && needsBackslash(units, at)) {
        output[length++] = BACKSLASH;
      }
    }
  }
  return length;
};

/** The text of these UTF-16 units, with what begins markup escaped. */
export const escapeMarkup = (units: Uint16Array): string => {
  const output = new Uint16Array(units.length + MOST_ADDED * countMarkup(units));
  const length = escapeInto(output, units);
  return Buffer.from(output.buffer, 0, length * 2).toString("utf16le");
};
