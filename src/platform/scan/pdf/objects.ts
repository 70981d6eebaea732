import { constants, inflateSync } from "node:zlib";
import { Refusal } from "../port.ts";
import { lookForMalware, lookForPrograms } from "../signatures.ts";
import { type Dictionary, Lexer, unreadable, type Value } from "./lexer.ts";
import { checkData, checkText, eachName } from "./names.ts";

const MAX_STREAMS = 100_000;
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;
const MAX_STREAM_BYTES = 128 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;
const OVERLAP_BYTES = 512;
const END_OF_STREAM = Buffer.from("endstream");
/** Writers count line ends before `endstream` in different ways. */
const MAX_LINE_END_BYTES = 4;

/** Filters whose output the specification defines; `Crypt` is not among them. */
const FILTERS = new Set<Value>([
  "/FlateDecode",
  "/LZWDecode",
  "/ASCIIHexDecode",
  "/ASCII85Decode",
  "/RunLengthDecode",
  "/DCTDecode",
  "/JPXDecode",
  "/CCITTFaxDecode",
  "/JBIG2Decode",
]);

const isFlate = (data: Buffer): boolean =>
  data.byteLength > 1 && ((data[0] ?? 0) & 0x0f) === 8 && data.readUInt16BE(0) % 31 === 0;

const filtersOf = (dictionary: Dictionary): Value[] => {
  const filter = dictionary.get("/Filter") ?? [];
  const filters = Array.isArray(filter) ? filter : [filter];
  if (!filters.every((name) => FILTERS.has(name))) throw unreadable();
  return filters;
};

/** Calls `use` with the text of the bytes, in pieces that overlap by more than any name is long. */
const eachPiece = (bytes: Buffer, use: (text: string, at: number) => void): void => {
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
    use(bytes.toString("latin1", at, at + PIECE_BYTES + OVERLAP_BYTES), at);
  }
};

type Length = { number: number; size: number; isStrict: boolean };

const fits = (claimed: number, size: number): boolean =>
  claimed <= size && size - claimed <= MAX_LINE_END_BYTES;

/** Reads every object of a PDF, and unpacks those that lie in streams. */
class ObjectReader {
  readonly #bytes: Buffer;
  readonly #lexer: Lexer;
  readonly #integers = new Map<number, number[]>();
  readonly #lengths: Length[] = [];
  #streams = 0;
  unpacked = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#lexer = new Lexer(bytes);
  }

  #inflate(data: Buffer, finishFlush: number): Buffer {
    const left = Math.min(MAX_STREAM_BYTES, MAX_UNPACKED_BYTES - this.unpacked);
    const isTooLarge = (error: unknown): boolean =>
      error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    try {
      const content = inflateSync(data, { maxOutputLength: Math.max(1, left), finishFlush });
      this.unpacked += content.byteLength;
      return content;
    } catch (error) {
      if (!isTooLarge(error)) throw unreadable();
      throw new Refusal("ARCHIVE_LIMIT", "The PDF unpacks to too many bytes.");
    }
  }

  /** Objects may be packed with Flate alone, as all common writers do. */
  #readObjectStream(dictionary: Dictionary, data: Buffer): void {
    const filters = filtersOf(dictionary);
    const isPlain = filters.length === 0;
    if (!isPlain && (filters.length > 1 || filters[0] !== "/FlateDecode")) throw unreadable();
    if ((dictionary.get("/DecodeParms") ?? null) !== null) throw unreadable();
    const content = isPlain ? data : this.#inflate(data, constants.Z_FINISH);
    // A position in the stream's index may lead into a string, so strings are looked at as well.
    eachPiece(content, checkText);
    const first = dictionary.get("/First");
    const count = dictionary.get("/N");
    if (typeof first !== "number" || typeof count !== "number") throw unreadable();
    this.#readPacked(content, first, count);
  }

  #readPacked(content: Buffer, first: number, count: number): void {
    const index = new Lexer(content);
    for (let entry = 0; entry < count; entry += 1) {
      const number = index.integer();
      const object = new Lexer(content, first + index.integer());
      // Every object is checked above as text; the length of a stream is all that is wanted here.
      const token = object.token();
      if (/^\d{1,12}$/.test(token)) this.#addInteger(number, Number(token));
    }
  }

  #addInteger(number: number, value: number): void {
    this.#integers.set(number, [...(this.#integers.get(number) ?? []), value]);
  }

  #checkLength(claimed: Value | undefined, size: number, isStrict: boolean): void {
    if (claimed instanceof Object && "ref" in claimed) {
      this.#lengths.push({ number: claimed.ref, size, isStrict });
    } else if (typeof claimed !== "number" || !fits(claimed, size)) throw unreadable();
  }

  #readStream(dictionary: Dictionary): void {
    this.#streams += 1;
    if (this.#streams > MAX_STREAMS) throw unreadable();
    // Such a stream's data are in a file elsewhere.
    if (dictionary.has("/F")) throw unreadable();
    const lexer = this.#lexer;
    lexer.skipLineEnd();
    const end = this.#bytes.indexOf(END_OF_STREAM, lexer.at);
    if (end < 0) throw unreadable();
    const data = this.#bytes.subarray(lexer.at, end);
    lexer.at = end;
    lexer.expect("endstream");
    const isObjects = dictionary.get("/Type") === "/ObjStm" || dictionary.has("/First");
    this.#checkLength(dictionary.get("/Length"), data.byteLength, isObjects);
    if (isObjects) this.#readObjectStream(dictionary, data);
    else this.#readData(dictionary, data);
  }

  #readData(dictionary: Dictionary, data: Buffer): void {
    if (filtersOf(dictionary)[0] !== "/FlateDecode" || !isFlate(data)) return;
    // A page whose drawing is cut off shows less; it hides nothing.
    const content = this.#inflate(data, constants.Z_SYNC_FLUSH);
    eachPiece(content, (text) => {
      lookForMalware(text);
      lookForPrograms(text);
    });
  }

  #readObject(token: string): void {
    const lexer = this.#lexer;
    if (!/^\d{1,10}$/.test(token)) throw unreadable();
    lexer.integer();
    lexer.expect("obj");
    const value = lexer.value();
    if (typeof value === "number") this.#addInteger(Number(token), value);
    if (lexer.expect("endobj", "stream") === "endobj") return;
    if (!(value instanceof Map)) throw unreadable();
    this.#readStream(value);
    lexer.expect("endobj");
  }

  read(): void {
    const lexer = this.#lexer;
    for (let token = lexer.token(); token !== ""; token = lexer.token()) {
      if (token === "xref") lexer.skip(/^(?:\d+|[nf])$/);
      else if (token === "trailer") {
        const trailer = lexer.value();
        if (!(trailer instanceof Map)) throw unreadable();
      } else if (token === "startxref") lexer.integer();
      else this.#readObject(token);
    }
    this.#checkLengths();
    this.#checkFirsts();
  }

  #checkLengths(): void {
    for (const { number, size, isStrict } of this.#lengths) {
      const values = this.#integers.get(number) ?? [];
      const matches = values.filter((value) => fits(value, size)).length;
      if (matches === 0 || (isStrict && matches < values.length)) throw unreadable();
    }
  }

  /** An object stream in a string, a comment or another stream's data would not have been read. */
  #checkFirsts(): void {
    let count = 0;
    eachPiece(this.#bytes, (text) =>
      eachName(text, (name, at) => {
        if (name === "First" && at < PIECE_BYTES) count += 1;
      }),
    );
    if (count !== this.#lexer.firsts) throw unreadable();
  }
}

/**
 * Refuses a PDF with a name in it that makes it run, open or carry something, and one that cannot be read
 * whole. Returns how many bytes were unpacked.
 *
 * @throws {Refusal}
 */
export const checkObjects = (bytes: Buffer): number => {
  eachPiece(bytes, (text) => {
    checkData(text);
    lookForMalware(text);
  });
  const reader = new ObjectReader(bytes);
  reader.read();
  return reader.unpacked;
};
