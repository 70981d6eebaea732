import { constants, inflateSync } from "node:zlib";
import { getCode } from "../../../kit/error.ts";
import { Refusal } from "../port.ts";
import { detectMalware, detectPrograms } from "../signatures.ts";
import { Lexer, createUnreadableRefusal } from "./lexer.ts";
import type { Dictionary, Value } from "./values.ts";
import {
  checkData,
  checkText,
  countFileKeys,
  createAttachedRefusal,
  forEachName,
} from "./names.ts";
import { checkXmlInvoice, MAX_XML_BYTES, MAX_XML_FILES } from "./xml-invoice.ts";

const MAX_STREAMS = 100_000;
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;
const MAX_STREAM_BYTES = 128 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;
const OVERLAP_BYTES = 512;
const END_OF_STREAM = Buffer.from("endstream");
/** PDF writers differ in whether a stream's length includes the line end before `endstream`. */
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

const listFilters = (dictionary: Dictionary): Value[] => {
  const filter = dictionary.get("/Filter") ?? [];
  const filters = Array.isArray(filter) ? filter : [filter];
  if (!filters.every((name) => FILTERS.has(name))) throw createUnreadableRefusal();
  return filters;
};

/** Calls `use` with the bytes as text, in pieces whose overlap exceeds the longest name. */
const forEachPiece = (bytes: Buffer, use: (text: string, at: number) => void): void => {
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
    use(bytes.toString("latin1", at, at + PIECE_BYTES + OVERLAP_BYTES), at);
  }
};

type Length = { number: number; size: number; isStrict: boolean };

const isStreamLength = (claimed: number, size: number): boolean =>
  claimed <= size && size - claimed <= MAX_LINE_END_BYTES;

/** Reads every object of a PDF, including those in object streams. */
class ObjectReader {
  readonly #bytes: Buffer;
  readonly #lexer: Lexer;
  readonly #integers = new Map<number, number[]>();
  readonly #lengths: Length[] = [];
  #streams = 0;
  /** The numbers of the objects that hold the XML of an invoice, and of all others. */
  readonly #invoices = new Set<number>();
  readonly #others = new Set<number>();
  /** The objects that dictionaries of attached files name, and the number of these dictionaries. */
  readonly #attached: number[][] = [];
  /** The keys of attached files in object streams that are not compressed. */
  #plainFileKeys = 0;
  unpacked = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#lexer = new Lexer(bytes);
  }

  #inflate(data: Buffer, finishFlush: number): Buffer {
    const left = Math.min(MAX_STREAM_BYTES, MAX_UNPACKED_BYTES - this.unpacked);
    try {
      const content = inflateSync(data, { maxOutputLength: Math.max(1, left), finishFlush });
      this.unpacked += content.byteLength;
      return content;
    } catch (error) {
      if (getCode(error) !== "ERR_BUFFER_TOO_LARGE") throw createUnreadableRefusal();
      throw new Refusal("ARCHIVE_LIMIT", "The PDF unpacks to too many bytes.");
    }
  }

  /** Unpacks a stream without a filter or with Flate alone, as all common writers make them; else undefined. */
  #unpack(dictionary: Dictionary, data: Buffer): Buffer | undefined {
    const [filter, ...others] = listFilters(dictionary);
    if (others.length > 0 || (dictionary.get("/DecodeParms") ?? null) !== null) return undefined;
    if (filter === undefined) return data;
    return filter === "/FlateDecode" ? this.#inflate(data, constants.Z_FINISH) : undefined;
  }

  #readObjectStream(dictionary: Dictionary, data: Buffer): void {
    const content = this.#unpack(dictionary, data);
    if (content === undefined) throw createUnreadableRefusal();
    // An offset in the stream's index may point into a string, so strings are checked too.
    forEachPiece(content, checkText);
    const first = dictionary.get("/First");
    const count = dictionary.get("/N");
    if (typeof first !== "number" || typeof count !== "number") throw createUnreadableRefusal();
    if (content === data) this.#plainFileKeys += countFileKeys(content.toString("latin1"));
    this.#readPacked(content, first, count);
  }

  #readPacked(content: Buffer, first: number, count: number): void {
    const index = new Lexer(content);
    const fileKeys = countFileKeys(content.toString("latin1"));
    let attached = 0;
    for (let entry = 0; entry < count; entry += 1) {
      const number = index.integer();
      const at = first + index.integer();
      this.#others.add(number);
      // The text of all objects was checked above; only the length of a stream is needed here.
      const token = new Lexer(content, at).token();
      if (/^\d{1,12}$/.test(token)) this.#addInteger(number, Number(token));
      if (fileKeys === 0) continue;
      const object = new Lexer(content, at);
      object.value();
      attached += object.attached.length;
      this.#attached.push(...object.attached);
    }
    if (attached !== fileKeys) throw createAttachedRefusal();
  }

  #readInvoice(dictionary: Dictionary, data: Buffer): void {
    const content = data.byteLength > MAX_XML_BYTES ? undefined : this.#unpack(dictionary, data);
    if (content === undefined) throw createAttachedRefusal();
    checkXmlInvoice(content);
  }

  /** Refuses attached files that were not checked, and places where a reader could find others. */
  #checkAttached(): void {
    let keys = 0;
    forEachPiece(this.#bytes, (text) => {
      keys += countFileKeys(text, PIECE_BYTES);
    });
    const own = this.#lexer.attached;
    if (keys !== own.length + this.#plainFileKeys) throw createAttachedRefusal();
    for (const number of [...own, ...this.#attached].flat()) {
      if (!this.#invoices.has(number) || this.#others.has(number)) throw createAttachedRefusal();
    }
  }

  #addInteger(number: number, value: number): void {
    const values = this.#integers.get(number);
    if (values === undefined) this.#integers.set(number, [value]);
    else values.push(value);
  }

  #checkLength(claimed: Value | undefined, size: number, isStrict: boolean): void {
    if (claimed instanceof Object && "ref" in claimed) {
      this.#lengths.push({ number: claimed.ref, size, isStrict });
    } else if (typeof claimed !== "number" || !isStreamLength(claimed, size))
      throw createUnreadableRefusal();
  }

  #readStream(number: number, dictionary: Dictionary): void {
    this.#streams += 1;
    if (this.#streams > MAX_STREAMS) throw createUnreadableRefusal();
    // The data of such a stream are in another file.
    if (dictionary.has("/F")) throw createUnreadableRefusal();
    const lexer = this.#lexer;
    lexer.skipLineEnd();
    const end = this.#bytes.indexOf(END_OF_STREAM, lexer.at);
    if (end < 0) throw createUnreadableRefusal();
    const data = this.#bytes.subarray(lexer.at, end);
    lexer.at = end;
    lexer.expect("endstream");
    const isObjects = dictionary.get("/Type") === "/ObjStm" || dictionary.has("/First");
    this.#checkLength(dictionary.get("/Length"), data.byteLength, isObjects);
    if (dictionary.get("/Type") === "/EmbeddedFile") {
      if (isObjects) throw createUnreadableRefusal();
      this.#readInvoice(dictionary, data);
      this.#invoices.add(number);
      if (this.#invoices.size > MAX_XML_FILES) throw createAttachedRefusal();
      return;
    }
    this.#others.add(number);
    if (isObjects) this.#readObjectStream(dictionary, data);
    else this.#readData(dictionary, data);
  }

  #readData(dictionary: Dictionary, data: Buffer): void {
    if (listFilters(dictionary)[0] !== "/FlateDecode" || !isFlate(data)) return;
    // Truncated page contents are allowed: the page shows less, but hides nothing.
    const content = this.#inflate(data, constants.Z_SYNC_FLUSH);
    forEachPiece(content, (text) => {
      detectMalware(text);
      detectPrograms(text);
    });
  }

  #readObject(token: string): void {
    const lexer = this.#lexer;
    if (!/^\d{1,10}$/.test(token)) throw createUnreadableRefusal();
    lexer.integer();
    lexer.expect("obj");
    const value = lexer.value();
    if (typeof value === "number") this.#addInteger(Number(token), value);
    if (lexer.expect("endobj", "stream") === "endobj") {
      this.#others.add(Number(token));
      return;
    }
    if (!(value instanceof Map)) throw createUnreadableRefusal();
    this.#readStream(Number(token), value);
    lexer.expect("endobj");
  }

  read(): void {
    const lexer = this.#lexer;
    for (let token = lexer.token(); token !== ""; token = lexer.token()) {
      if (token === "xref") lexer.skip(/^(?:\d+|[nf])$/);
      else if (token === "trailer") {
        const trailer = lexer.value();
        if (!(trailer instanceof Map)) throw createUnreadableRefusal();
      } else if (token === "startxref") lexer.integer();
      else this.#readObject(token);
    }
    this.#checkLengths();
    this.#checkFirsts();
    this.#checkAttached();
  }

  #checkLengths(): void {
    for (const { number, size, isStrict } of this.#lengths) {
      const values = this.#integers.get(number) ?? [];
      const matches = values.filter((value) => isStreamLength(value, size)).length;
      if (matches === 0 || (isStrict && matches < values.length)) throw createUnreadableRefusal();
    }
  }

  /** Refuses object streams inside strings, comments or other streams, which were not read. */
  #checkFirsts(): void {
    let count = 0;
    forEachPiece(this.#bytes, (text) =>
      forEachName(text, (name, at) => {
        if (name === "First" && at < PIECE_BYTES) count += 1;
      }),
    );
    if (count !== this.#lexer.firsts) throw createUnreadableRefusal();
  }
}

/**
 * Refuses a PDF that contains the name of an active feature, or cannot be read completely. Returns the
 * number of unpacked bytes.
 *
 * @throws {Refusal}
 */
export const checkObjects = (bytes: Buffer): number => {
  forEachPiece(bytes, (text) => {
    checkData(text);
    detectMalware(text);
  });
  const reader = new ObjectReader(bytes);
  reader.read();
  return reader.unpacked;
};
