// Terminal sequences. Each alternative consumes all that it looks at.
const TERMINAL =
  // oxlint-disable-next-line no-control-regex -- these characters are the ones to find
  /(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b[PX^_]|[\u0090\u0098\u009e\u009f])[^\u001b\u009c]*(?:\u001b\\|\u009c)?|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g;

// Control, format (bidi, zero width, tags), line separators, private use, lone surrogates, unassigned; then what Unicode
// says to ignore in display (fillers, variation selectors), and two characters that are blank without saying so.
const INVISIBLE = /[[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]--[\n\t]]/v;

const BLOCK = 0x1000;
const blocks: (Uint8Array | undefined)[] = [];

/** One byte per code point, 1 where it is invisible; asking the pattern each time costs ten times as much. */
const blockOf = (index: number): Uint8Array => {
  const known = blocks[index];
  if (known !== undefined) return known;
  const block = Uint8Array.from({ length: BLOCK }, (_, offset) =>
    INVISIBLE.test(String.fromCodePoint(index * BLOCK + offset)) ? 1 : 0,
  );
  blocks[index] = block;
  return block;
};

const isInvisible = (point: number): boolean =>
  blockOf(Math.floor(point / BLOCK))[point % BLOCK] === 1;

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** The UTF-16 units of a text without terminal sequences and invisible characters; each line end is a newline. */
export const visibleUnits = (text: string): Uint16Array => {
  const plain = text.replace(TERMINAL, "");
  const units = new Uint16Array(plain.length);
  let length = 0;
  for (let at = 0; at < plain.length; at += 1) {
    const unit = plain.charCodeAt(at);
    if ((unit >= 0x20 && unit < 0x7f) || unit === TAB || unit === NEWLINE) {
      units[length++] = unit;
    } else if (unit === RETURN) {
      if (plain.charCodeAt(at + 1) !== NEWLINE) units[length++] = NEWLINE;
    } else {
      const point = plain.codePointAt(at) ?? unit;
      const isPair = point > 0xffff;
      if (!isInvisible(point)) {
        units[length++] = unit;
        if (isPair) units[length++] = plain.charCodeAt(at + 1);
      }
      if (isPair) at += 1;
    }
  }
  return units.subarray(0, length);
};
