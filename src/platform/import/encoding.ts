import { isAscii, isUtf8 } from "node:buffer";

const HEAD_BYTES = 1024;
const DECLARED = /^\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]{1,40})["']/;
const NEWLINE = 10;
const FIRST_C1 = 0x80;
const LAST_C1 = 0x9f;

const MARKS: readonly [label: string, bytes: readonly number[]][] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];

const findMark = (head: Uint8Array): string | undefined =>
  MARKS.find(([, bytes]) => bytes.every((byte, place) => head[place] === byte))?.[0];

const findDeclared = (head: Uint8Array): string | undefined => {
  const label = DECLARED.exec(new TextDecoder("latin1").decode(head))?.[1];
  try {
    return label === undefined ? undefined : new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
};

// Text in Latin letters as UTF-16 without a mark has a zero in every second byte.
const findUtf16 = (head: Uint8Array): string | undefined => {
  const zeros = (from: number): number =>
    head.filter((byte, place) => place % 2 === from && byte === 0).length;
  const most = head.length / 4;
  if (zeros(1) > most && zeros(0) === 0) return "utf-16le";
  return zeros(0) > most && zeros(1) === 0 ? "utf-16be" : undefined;
};

/** The most bytes of a line that are held until it ends. XML can be one line. */
const MOST_HELD = 1_000_000;

/** Returns where a long line can be divided: after ASCII, which is never a part of another character. */
const findDivision = (bytes: Uint8Array): number => {
  const last = bytes.findLastIndex((byte) => byte < FIRST_C1);
  return last === -1 ? bytes.length : last + 1;
};

/** Collects which encodings the lines of a file fit. Lines are split at bytes, because no encoding here uses LF otherwise. */
const createSurvey = () => {
  /** The parts of a line that has not ended yet. */
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  const found = { multibyte: false, invalid: false, c1: false };
  const judgeLine = (bytes: Uint8Array): void => {
    if (isUtf8(bytes)) {
      found.multibyte ||= !isAscii(bytes);
      return;
    }
    found.invalid = true;
    found.c1 ||= bytes.some((byte) => byte >= FIRST_C1 && byte <= LAST_C1);
  };
  const judge = (bytes: Uint8Array): void => {
    if (isUtf8(bytes)) return judgeLine(bytes);
    for (let from = 0; from < bytes.length;) {
      const end = bytes.indexOf(NEWLINE, from) + 1 || bytes.length;
      judgeLine(bytes.subarray(from, end));
      from = end;
    }
  };
  return {
    push(chunk: Uint8Array): void {
      const isFull = heldBytes + chunk.length > MOST_HELD;
      const end = chunk.lastIndexOf(NEWLINE) + 1 || (isFull ? findDivision(chunk) : 0);
      if (end > 0) {
        judge(Buffer.concat([...held, chunk.subarray(0, end)]));
        held = [];
        heldBytes = 0;
      }
      const rest = chunk.subarray(end);
      held.push(rest);
      heldBytes += rest.length;
    },
    end() {
      judge(Buffer.concat(held));
      return found;
    },
  };
};

const WESTERN = "windows-1252";

/** Encodings that files often declare and do not have. */
const DOUBTED: ReadonlySet<string> = new Set(["utf-8", "utf-16le", "utf-16be", WESTERN]);

/**
 * Finds the encoding of a file, as {@link TextDecoder} takes it: by its byte order mark, its XML declaration, else by
 * its content, which also decides where it contradicts a declared UTF-8, UTF-16 or ISO-8859-1. A file that is not UTF-8
 * is Windows-1252 (or ISO-8859-1 if it has none of the characters in which the two differ).
 */
export const detectEncoding = async (bytes: AsyncIterable<Uint8Array>): Promise<string> => {
  const survey = createSurvey();
  let head: Uint8Array | undefined;
  let declared: string | undefined;
  for await (const chunk of bytes) {
    if (head === undefined) {
      head = chunk.subarray(0, HEAD_BYTES);
      const marked = findMark(head) ?? findUtf16(head);
      if (marked !== undefined) return marked;
      declared = findDeclared(head);
      if (declared !== undefined && !DOUBTED.has(declared)) return declared;
    }
    survey.push(chunk);
  }
  const { multibyte, invalid, c1 } = survey.end();
  if (invalid && declared === WESTERN) return declared;
  // A file with both UTF-8 characters and other bytes is damaged UTF-8; its damaged lines are refused one by one.
  if (!invalid || multibyte) return "utf-8";
  return c1 ? WESTERN : "iso-8859-1";
};

/** NUL and SUB (Ctrl-Z), with which mainframes and older systems fill up or end a text; and blanks around them. */
const FILLERS: ReadonlySet<number> = new Set([0, 26]);
const BLANKS: ReadonlySet<number> = new Set([10, 13, 32]);

/** Returns a text without what only fills up its end. */
export const cutFillers = (bytes: Uint8Array): Uint8Array => {
  let end = bytes.length;
  for (let at = end - 1; at >= 0; at -= 1) {
    const byte = bytes[at] ?? 0;
    if (FILLERS.has(byte)) end = at;
    else if (!BLANKS.has(byte)) break;
  }
  return bytes.subarray(0, end);
};

/** Converts a file to UTF-8, without a byte order mark and without what only fills up its end. */
export async function* toUtf8(
  bytes: AsyncIterable<Uint8Array>,
  label: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let last: Uint8Array = new Uint8Array();
  for await (const chunk of convert(bytes, label)) {
    // The end of UTF-16 is an empty chunk.
    if (chunk.length === 0) continue;
    if (last.length > 0) yield last;
    last = chunk;
  }
  yield cutFillers(last);
}

/** UTF-8 passes as it is, so that damaged lines can be refused. */
async function* convert(
  bytes: AsyncIterable<Uint8Array>,
  label: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (label === "utf-8") {
    yield* bytes;
    return;
  }
  const decoder = new TextDecoder(label);
  const encoder = new TextEncoder();
  for await (const chunk of bytes) yield encoder.encode(decoder.decode(chunk, { stream: true }));
  yield encoder.encode(decoder.decode());
}
