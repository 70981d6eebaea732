type EncodedFile = { name: string; content: Buffer };

const NEWLINE = 0x0a;
const SPACE = 0x20;
const EQUALS_SIGN = 0x3d;
const LAST_CHARACTER = 0x60;
const MAX_HEAD_BYTES = 300;
const MAX_LINE_BYTES = 90;
const HEAD = /^begin(-base64)? [0-7]{3,4} {1,9}([^\r\n]{1,255})\r?\n/;

const findLineEnd = (text: Buffer, at: number): number => {
  const newline = text.indexOf(NEWLINE, at);
  return newline < 0 ? text.byteLength : newline;
};

/** Returns where the lines of data that begin at an index end. Data of uuencode has no small letters, `end` has. */
const findEnd = (text: Buffer, from: number, isBase64: boolean): number => {
  let at = from;
  while (at < text.byteLength) {
    const end = findLineEnd(text, at);
    const first = text[at] ?? 0;
    const isData = isBase64
      ? first !== EQUALS_SIGN
      : first > SPACE && first <= LAST_CHARACTER && end - at > 1 && end - at <= MAX_LINE_BYTES;
    if (!isData) break;
    at = end + 1;
  }
  return Math.min(at, text.byteLength);
};

/** Decodes a line: its first character is the number of bytes, each further one has six bits. Returns that number. */
const decodeLine = (text: Buffer, from: number, to: number, target: Buffer, size: number) => {
  const bits = (at: number): number => ((at < to ? (text[at] ?? SPACE) : SPACE) - SPACE) & 0x3f;
  // A line that is cut holds less than it says.
  const count = Math.min(bits(from), Math.floor(((to - from - 1) * 3) / 4));
  for (let index = 0; index < count; index += 1) {
    const at = from + 1 + Math.floor((index * 4) / 3);
    const shift = 2 * (index % 3) + 2;
    target[size + index] = (bits(at) << shift) | (bits(at + 1) >> (6 - shift));
  }
  return count;
};

const decode = (text: Buffer, from: number, end: number): Buffer => {
  const target = Buffer.alloc(end - from);
  let size = 0;
  for (let at = from; at < end; at = findLineEnd(text, at) + 1) {
    size += decodeLine(text, at, findLineEnd(text, at), target, size);
  }
  return target.subarray(0, size);
};

/** Reads the files that a text holds in uuencode or, as `begin-base64`, in Base64 (POSIX uuencode). */
export function* readUuencoded(text: Buffer): Generator<EncodedFile> {
  for (let at = text.indexOf("begin"); at >= 0; at = text.indexOf("begin", at + 1)) {
    if (at > 0 && text[at - 1] !== NEWLINE) continue;
    const head = text.toString("latin1", at, at + MAX_HEAD_BYTES);
    const [whole = "", base64, name] = HEAD.exec(head) ?? [];
    if (name === undefined) continue;
    const from = at + whole.length;
    const end = findEnd(text, from, base64 !== undefined);
    const content =
      base64 === undefined
        ? decode(text, from, end)
        : Buffer.from(text.toString("latin1", from, end), "base64");
    yield { name: name.trim(), content };
    at = end - 1;
  }
}
