import { SaxesParser } from "saxes";
import { type Entry, fromBufferPromise, type ZipFile } from "yauzl";
import { Problem } from "../../../contract/errors.ts";
import type { Handlers } from "../../../kit/xlsx/structure.ts";

const MEGABYTE = 1024 * 1024;
const MOST_PACKED_BYTES = 100 * MEGABYTE;
const MOST_ENTRIES = 10_000;
const MOST_UNPACKED_BYTES = 2048 * MEGABYTE;
/** Parts up to this size may have any compression ratio, because short texts that repeat compress a lot. */
const ALWAYS_ALLOWED_BYTES = 10 * MEGABYTE;
const MOST_RATIO = 200;
const ENCRYPTED = 1;

/** Creates the refusal of a workbook. */
export const createWorkbookProblem = (message: string): Problem =>
  new Problem("invalid_request", `The workbook is refused: ${message}. Nothing was changed.`);

const OLE2 = Buffer.from("d0cf11e0a1b11ae1", "hex");
const ZIP = Buffer.from("PK");

/** Collects the bytes of a workbook, whose index stands at its end. */
const collectBytes = async (bytes: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of bytes) {
    pieces.push(piece);
    size += piece.length;
    if (size > MOST_PACKED_BYTES) {
      throw createWorkbookProblem(`it is larger than ${MOST_PACKED_BYTES / MEGABYTE} MB`);
    }
  }
  return Buffer.concat(pieces);
};

const checkForm = (file: Buffer): void => {
  if (file.subarray(0, OLE2.length).equals(OLE2)) {
    throw createWorkbookProblem(
      "it has the old binary form (.xls) or a password; save it as .xlsx without a password",
    );
  }
  if (!file.subarray(0, ZIP.length).equals(ZIP)) {
    throw createWorkbookProblem("it is no ZIP archive, as .xlsx files are");
  }
};

const checkEntry = ({ fileName, compressedSize, uncompressedSize, ...entry }: Entry): void => {
  if ((entry.generalPurposeBitFlag & ENCRYPTED) !== 0) {
    throw createWorkbookProblem("it has a password; save it without one");
  }
  const most = Math.max(ALWAYS_ALLOWED_BYTES, compressedSize * MOST_RATIO);
  if (uncompressedSize > Math.min(most, MOST_UNPACKED_BYTES)) {
    throw createWorkbookProblem(`its part ${fileName.slice(0, 100)} unpacks to too many bytes`);
  }
};

const listEntries = async (zip: ZipFile): Promise<Map<string, Entry>> => {
  if (zip.entryCount > MOST_ENTRIES) throw createWorkbookProblem("it has too many parts");
  const entries = new Map<string, Entry>();
  for await (const entry of zip.eachEntry()) {
    checkEntry(entry);
    const name = entry.fileName.toLowerCase();
    if (entries.has(name)) throw createWorkbookProblem("it has two parts of one name");
    entries.set(name, entry);
  }
  return entries;
};

/** The parts of an Office Open XML package (ECMA-376 part 2), by names without a leading slash. */
export type Package = {
  has(name: string): boolean;
  /** Unpacks a part as a stream; the size that the index states is checked on the way. */
  read(name: string): AsyncIterable<Uint8Array>;
};

const toProblem = (error: unknown): unknown =>
  error instanceof Problem
    ? error
    : createWorkbookProblem("its ZIP archive is damaged; open it, save it again and retry");

/** Opens a workbook's package. @throws {Problem} invalid_request */
export const openPackage = async (bytes: AsyncIterable<Uint8Array>): Promise<Package> => {
  const file = await collectBytes(bytes);
  checkForm(file);
  try {
    const zip = await fromBufferPromise(file);
    const entries = await listEntries(zip);
    return {
      has: (name) => entries.has(name.toLowerCase()),
      async *read(name) {
        const entry = entries.get(name.toLowerCase());
        if (entry === undefined) throw createWorkbookProblem(`it has no part ${name}`);
        try {
          yield* (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>;
        } catch (error) {
          throw toProblem(error);
        }
      },
    };
  } catch (error) {
    throw toProblem(error);
  }
};

const local = (name: string): string => name.slice(name.indexOf(":") + 1);

/** Parses a part piece by piece, and yields after each piece so that the caller can take what it has collected. */
export async function* parsePart(
  parts: Package,
  name: string,
  handlers: Handlers,
): AsyncGenerator<void, void, undefined> {
  const parser = new SaxesParser({ xmlns: false, position: false });
  parser.on("opentag", ({ name: tag, attributes }) => handlers.open(local(tag), attributes));
  parser.on("text", (text) => handlers.text(text));
  parser.on("cdata", (text) => handlers.text(text));
  parser.on("closetag", ({ name: tag }) => handlers.close(local(tag)));
  parser.on("doctype", () => {
    throw createWorkbookProblem("a part declares a document type, which no workbook has");
  });
  parser.on("error", () => {
    throw createWorkbookProblem(`its part ${name} is no well-formed XML`);
  });
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const piece of parts.read(name)) {
    parser.write(decodePiece(decoder, piece, name));
    yield;
  }
  parser.close();
  yield;
}

const decodePiece = (
  decoder: InstanceType<typeof TextDecoder>,
  piece: Uint8Array,
  name: string,
): string => {
  try {
    return decoder.decode(piece, { stream: true });
  } catch {
    throw createWorkbookProblem(`its part ${name} is no UTF-8 text`);
  }
};

/** Parses a whole part. */
export const readPart = async (parts: Package, name: string, handlers: Handlers): Promise<void> => {
  for await (const _ of parsePart(parts, name, handlers));
};
