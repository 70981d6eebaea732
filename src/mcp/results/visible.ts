/**
 * Complete terminal sequences of bounded length: titles, links and device strings, which end with BEL or ESC \; cursor and
 * color sequences; two characters. Of any other sequence only the character that begins it is removed: text after a lone
 * control, as a wrong encoding leaves many, stays. An 8-bit sequence must have parameters, because U+009B alone is such a
 * character too.
 */
const TERMINAL =
  // oxlint-disable-next-line no-control-regex -- these characters are the ones to find
  /\u001b\][^\u0007\u001b\n]{0,256}(?:\u0007|\u001b\\)|\u001b[PX^_][^\u001b\n]{0,256}\u001b\\|(?:\u001b\[[0-?]{0,32}[ -/]{0,4}|\u009b\d[\d;]{0,15})[@-~]|\u001b(?:[ -/]{1,2}[0-~]|[0-OQ-WYZ\\`-~])/g;

// Control, format (bidi, zero width, tags), line separators, private use, lone surrogates, unassigned; then what Unicode
// says to ignore in display (fillers, variation selectors), and two characters that are blank without saying so.
const INVISIBLE = /[[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]--[\n\t]]/v;
/** Letters and marks of scripts in which a joiner changes how a word looks. */
const JOINS =
  /[[\p{scx=Arab}\p{scx=Syrc}\p{scx=Mong}\p{scx=Nkoo}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Mymr}\p{scx=Khmr}]&&[\p{L}\p{M}]]/v;
/** The marks that remove the vowel of an Indic letter. */
const VIRAMA =
  /[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u1039\u103a\u17d2\ua8c4\ua9c0\uaaf6\uabed]/;
const PICTURE = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]/u;
const EMOJI = /\p{Emoji}/u;

const [IS_INVISIBLE, IS_JOINING, IS_VIRAMA, IS_PICTURE, IS_EMOJI] = [1, 2, 4, 8, 16] as const;
const KINDS = [
  [INVISIBLE, IS_INVISIBLE],
  [JOINS, IS_JOINING],
  [VIRAMA, IS_VIRAMA],
  [PICTURE, IS_PICTURE],
  [EMOJI, IS_EMOJI],
] as const;

const BLOCK = 0x1000;
const blocks: (Uint8Array | undefined)[] = [];

/** One byte of kinds per code point; asking the patterns each time costs ten times as much. */
const blockOf = (index: number): Uint8Array => {
  const known = blocks[index];
  if (known !== undefined) return known;
  const block = Uint8Array.from({ length: BLOCK }, (_, offset) => {
    const character = String.fromCodePoint(index * BLOCK + offset);
    return KINDS.reduce((all, [pattern, kind]) => all | (pattern.test(character) ? kind : 0), 0);
  });
  blocks[index] = block;
  return block;
};

const kindOf = (point: number): number => blockOf(Math.floor(point / BLOCK))[point % BLOCK] ?? 0;

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const [NON_JOINER, JOINER] = [0x200c, 0x200d] as const;
const [AS_TEXT, AS_PICTURE, KEYCAP] = [0xfe0e, 0xfe0f, 0x20e3] as const;
/** Digits, number sign and asterisk are emoji only in a keycap. */
const ASCII = 0x80;

const toTags = (letters: string): string =>
  [...letters].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("");
const FLAG = 0x1f3f4;
/** The flags of England, Scotland and Wales: a black flag, tags, and the tag that ends them. */
const FLAGS = ["gbeng", "gbsct", "gbwls"].map((region) => `\u{1f3f4}${toTags(region)}\u{e007f}`);

const lengthOfFlag = (text: string, at: number): number =>
  FLAGS.find((flag) => text.startsWith(flag, at))?.length ?? 0;

/** The character that precedes the one in question in the result, without a variation selector. */
type Before = { point: number; hasVariation: boolean };

/** Whether a character without a look of its own changes the look of the characters beside it, as in words and emoji. */
const isMeant = (
  point: number,
  { point: before, hasVariation }: Before,
  after: number,
): boolean => {
  const [left, right] = [kindOf(before), kindOf(after)];
  if (point === AS_TEXT || point === AS_PICTURE) {
    if (hasVariation || (left & IS_EMOJI) === 0) return false;
    return before >= ASCII || after === KEYCAP;
  }
  if (point === JOINER && (left & IS_PICTURE & right) !== 0) return true;
  if (point !== JOINER && point !== NON_JOINER) return false;
  if (((left | right) & IS_VIRAMA) !== 0) return true;
  return point === NON_JOINER && (left & IS_JOINING & right) !== 0;
};

export type VisibleOptions = {
  /** A carriage return before a newline stays. */
  keepLineEnds?: boolean;
  /** Called with the name of each character or sequence that is removed or replaced. */
  onRemoved?: (name: string) => void;
};

const nameOf = (point: number): string => `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;

const withoutSequences = (text: string, onRemoved: VisibleOptions["onRemoved"]): string =>
  text.replace(TERMINAL, () => {
    onRemoved?.("a terminal sequence");
    return "";
  });

/** The UTF-16 units of a text without terminal sequences and invisible characters; a lone return is a newline. */
export const visibleUnits = (
  text: string,
  { keepLineEnds = false, onRemoved }: VisibleOptions = {},
): Uint16Array => {
  const plain = withoutSequences(text, onRemoved);
  const units = new Uint16Array(plain.length);
  let length = 0;
  let before: Before = { point: 0, hasVariation: false };
  for (let at = 0; at < plain.length; at += 1) {
    const unit = plain.charCodeAt(at);
    if ((unit >= 0x20 && unit < 0x7f) || unit === TAB || unit === NEWLINE) {
      units[length++] = unit;
      before = { point: unit, hasVariation: false };
    } else if (unit === RETURN) {
      const isEnd = plain.charCodeAt(at + 1) === NEWLINE;
      if (isEnd && keepLineEnds) units[length++] = RETURN;
      if (!isEnd) units[length++] = NEWLINE;
      if (!isEnd || !keepLineEnds) onRemoved?.(nameOf(RETURN));
    } else {
      const point = plain.codePointAt(at) ?? unit;
      const flag = point === FLAG ? lengthOfFlag(plain, at) : 0;
      const size = flag > 0 ? flag : point > 0xffff ? 2 : 1;
      const isSeen = (kindOf(point) & IS_INVISIBLE) === 0;
      if (isSeen || isMeant(point, before, plain.codePointAt(at + size) ?? 0)) {
        for (let index = 0; index < size; index += 1)
          units[length++] = plain.charCodeAt(at + index);
        before = isSeen ? { point, hasVariation: false } : { ...before, hasVariation: true };
      } else onRemoved?.(nameOf(point));
      at += size - 1;
    }
  }
  return units.subarray(0, length);
};
