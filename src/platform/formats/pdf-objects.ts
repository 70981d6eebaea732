import { inflateSync } from "node:zlib";
import * as lib from "@cantoo/pdf-lib";
import { FormatProblem } from "./format-problem.ts";

const MAX_STREAM_BYTES = 64 * 1024 * 1024;
export const key = (name: string): lib.PDFName => lib.PDFName.of(name);

const PIECE_BYTES = 64 * 1024;

const createLimit = (): FormatProblem =>
  new FormatProblem("limit", `A stream of the PDF unpacks to over ${MAX_STREAM_BYTES} bytes.`);

/** Undoes one filter with the library, in pieces: it would allocate the whole limit at once. */
const decode = (stream: lib.PDFRawStream): Buffer => {
  const decoder = lib.decodePDFRawStream(stream);
  const pieces: Buffer[] = [];
  for (let total = 0; ;) {
    const piece = Buffer.from(decoder.getBytes(PIECE_BYTES));
    if (piece.byteLength === 0) return Buffer.concat(pieces);
    total += piece.byteLength;
    if (total > MAX_STREAM_BYTES) throw createLimit();
    pieces.push(piece);
  }
};

const inflate = (contents: Uint8Array): Buffer | undefined => {
  try {
    return inflateSync(contents, { maxOutputLength: MAX_STREAM_BYTES });
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") throw createLimit();
    return undefined;
  }
};

export const toList = (value: lib.PDFObject | undefined): (lib.PDFObject | undefined)[] =>
  value instanceof lib.PDFArray ? value.asArray().map((_, at) => value.lookup(at)) : [value];

/** Unpacks a stream, up to a limit. Returns undefined for unknown filters and damaged data. @throws {FormatProblem} */
export const unpack = ({ dict, contents }: lib.PDFRawStream): Buffer | undefined => {
  const params = toList(dict.lookup(key("DecodeParms")));
  let bytes = Buffer.from(contents.buffer, contents.byteOffset, contents.byteLength);
  for (const [at, filter] of toList(dict.lookup(key("Filter"))).entries()) {
    if (filter === undefined) continue;
    const inflated = filter === key("FlateDecode") ? inflate(bytes) : undefined;
    const step = lib.PDFDict.withContext(dict.context);
    step.set(key("Filter"), filter);
    const param = params[at];
    if (param !== undefined) step.set(key("DecodeParms"), param);
    try {
      bytes = inflated ?? decode(lib.PDFRawStream.of(step, bytes));
    } catch (error) {
      if (error instanceof FormatProblem) throw error;
      return undefined;
    }
  }
  return bytes;
};

const isObjectStream = (object: lib.PDFObject): boolean =>
  object instanceof lib.PDFRawStream && object.dict.get(key("Type")) === key("ObjStm");

/** Returns whether each filter is known, and not an object that comes later in the file. */
const hasFilter = ({ dict }: lib.PDFRawStream): boolean => {
  const filter = dict.lookup(key("Filter"));
  const list = filter instanceof lib.PDFArray ? filter.asArray() : [filter];
  return dict.get(key("Filter")) === undefined || list.every((one) => one instanceof lib.PDFName);
};

const toPlain = ({ dict }: lib.PDFRawStream, contents: Uint8Array): lib.PDFRawStream => {
  const plain = dict.clone(dict.context);
  plain.delete(key("Filter"));
  return lib.PDFRawStream.of(plain, contents);
};

/** Records every object that the parser reads, also those that a later one of the same number replaces. */
class Recorder extends lib.PDFParser {
  readonly objects: lib.PDFObject[] = [];
  /** Object streams, and those of them that the library has read. */
  readonly #packed: lib.PDFRawStream[] = [];
  readonly #read = new Set<lib.PDFObject>();
  #problem: FormatProblem | undefined;

  constructor(bytes: Uint8Array) {
    super(bytes, Infinity, false, false, true);
    const assign = this.context.assign.bind(this.context);
    this.context.assign = (ref, object) => {
      this.objects.push(object);
      if (isObjectStream(object)) this.#read.add(object);
      assign(ref, object);
    };
  }

  /** Unpacks object streams up to a limit, before the library would do it without one. */
  protected override parseDictOrStream(ref?: lib.PDFRef) {
    const object = super.parseDictOrStream(ref);
    if (!(object instanceof lib.PDFRawStream) || !object.dict.has(key("First"))) return object;
    try {
      const contents = hasFilter(object) ? unpack(object) : undefined;
      const packed = contents === undefined ? object : toPlain(object, contents);
      this.#packed.push(packed);
      return packed;
    } catch (error) {
      if (error instanceof FormatProblem) this.#problem = error;
      throw error;
    }
  }

  /** Parses the document, and object streams that do not say their type or whose filter comes later. */
  async readAll(): Promise<lib.PDFContext> {
    await this.parseDocument();
    if (this.#problem !== undefined) throw this.#problem;
    if (this.context.lookup(this.context.trailerInfo.Encrypt) !== undefined) return this.context;
    for (const stream of this.#packed.filter((one) => !this.#read.has(one))) {
      const contents = hasFilter(stream) ? unpack(stream) : undefined;
      try {
        if (contents === undefined) throw new Error("the filter is unknown");
        await lib.PDFObjectStreamParser.forStream(toPlain(stream, contents)).parseIntoContext();
      } catch {
        const message = "The PDF has packed objects that cannot be read. Print it to a new one.";
        throw new FormatProblem("broken", message);
      }
    }
    return this.context;
  }
}

/** Opens a PDF without a password. */
const decrypt = async (bytes: Buffer): Promise<lib.PDFContext> => {
  try {
    const options = { password: "", updateMetadata: false, capNumbers: true, preserveXFA: true };
    return (await lib.PDFDocument.load(bytes, options)).context;
  } catch {
    const message = "The PDF is encrypted and needs a password. Save it without one.";
    throw new FormatProblem("encrypted", message);
  }
};

/** All objects of a PDF, of all its revisions and object streams. */
export type PdfObjects = { objects: readonly lib.PDFObject[]; isEncrypted: boolean };

/** Reads every object of a PDF, also a damaged one, and one that opens with the empty password. @throws {FormatProblem} */
export const readPdfObjects = async (bytes: Buffer): Promise<PdfObjects> => {
  const recorder = new Recorder(bytes);
  const context = await recorder.readAll();
  const isEncrypted = context.lookup(context.trailerInfo.Encrypt) !== undefined;
  if (!isEncrypted) return { objects: recorder.objects, isEncrypted };
  const opened = (await decrypt(bytes)).enumerateIndirectObjects();
  return { objects: opened.map(([, object]) => object), isEncrypted };
};
