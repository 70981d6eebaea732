import { Readable } from "node:stream";
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from "yauzl";
import type { Bytes } from "./bytes.ts";
import { mismatch, type Nest, soundOr } from "./nest.ts";
import { Refusal } from "./port.ts";

const MAX_ENTRIES = 1000;
const MAX_RATIO = 100;
// Below this, whatever it is unpacked from, a file is no burden to anybody.
const HARMLESS_BYTES = 1024 * 1024;

const ENCRYPTED = 0x41;
const AES = 99;
const STORED = 0;
const DEFLATED = 8;
const BROKEN = "The archive is broken, or not what it says of itself.";

const limit = (message: string): Refusal => new Refusal("ARCHIVE_LIMIT", message);

class BytesReader extends RandomAccessReader {
  readonly #bytes: Bytes;

  constructor(bytes: Bytes) {
    super();
    this.#bytes = bytes;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#bytes.pieces(start, end));
  }
}

export type Packed = {
  name: string;
  isFolder: boolean;
  /** Unpacked bytes as they come; refused where they are more than an archive may hold. */
  pieces(): AsyncGenerator<Buffer>;
};

const kindOf = (entry: Entry): number => (entry.externalFileAttributes >>> 16) & 0xf000;
const FOLDER = 0x4000;
const FILE = 0x8000;

const checkEntry = (entry: Entry): void => {
  if ((entry.generalPurposeBitFlag & ENCRYPTED) !== 0 || entry.compressionMethod === AES) {
    throw new Refusal(
      "ENCRYPTED_ARCHIVE",
      "The archive is encrypted, so that nobody can look into it.",
    );
  }
  if (![STORED, DEFLATED].includes(entry.compressionMethod)) {
    throw limit("The archive is compressed in an unusual way. Make it anew as a plain ZIP.");
  }
  if (![0, FOLDER, FILE].includes(kindOf(entry))) {
    throw limit("The archive holds a link or a device.");
  }
  const { compressedSize, uncompressedSize } = entry;
  if (uncompressedSize > Math.max(HARMLESS_BYTES, compressedSize * MAX_RATIO)) {
    throw limit(`The archive holds a file that unpacks to over ${MAX_RATIO} times its size.`);
  }
};

/** Where an entry's header and data lie; what stands there must agree with the archive's index. */
const placeOf = async (zip: ZipFile, entry: Entry): Promise<{ from: number; to: number }> => {
  const local = await zip.readLocalFileHeaderPromise(entry);
  const isAlike =
    local.fileName.equals(entry.fileNameRaw) &&
    local.compressionMethod === entry.compressionMethod &&
    (local.generalPurposeBitFlag & ENCRYPTED) === 0;
  if (!isAlike) throw mismatch(BROKEN);
  return {
    from: entry.relativeOffsetOfLocalHeader,
    to: local.fileDataStart + entry.compressedSize,
  };
};

const checkPlaces = async (zip: ZipFile, entries: Entry[], indexAt: number): Promise<void> => {
  const places = [];
  // oxlint-disable-next-line no-await-in-loop -- one file is read
  for (const entry of entries) places.push(await placeOf(zip, entry));
  let end = 0;
  for (const { from, to } of places.toSorted((one, other) => one.from - other.from)) {
    if (from < end || (end === 0 && from !== 0)) throw mismatch(BROKEN);
    end = to;
  }
  if (end > indexAt) throw mismatch(BROKEN);
};

const entriesOf = async (zip: ZipFile): Promise<Entry[]> => {
  const tooMany = () => limit(`An archive may hold ${MAX_ENTRIES} files at most.`);
  if (zip.entryCount > MAX_ENTRIES) throw tooMany();
  const entries: Entry[] = [];
  const names = new Set<string>();
  for await (const entry of zip.eachEntry()) {
    checkEntry(entry);
    entries.push(entry);
    names.add(entry.fileName.toLowerCase());
  }
  if (names.size < entries.length) throw mismatch("The archive holds two files of one name.");
  return entries;
};

const LEADS_OUT = /^(?:invalid characters in fileName|absolute path|invalid relative path)/;

const opened = async (bytes: Bytes): Promise<{ zip: ZipFile; entries: Entry[] }> => {
  const zip = await fromRandomAccessReaderPromise(new BytesReader(bytes), bytes.size, {
    autoClose: false,
    strictFileNames: true,
  });
  const indexAt = Number(zip.readEntryCursor);
  try {
    const entries = await entriesOf(zip);
    await checkPlaces(zip, entries, indexAt);
    return { zip, entries };
  } catch (error) {
    if (error instanceof Error && LEADS_OUT.test(error.message)) {
      throw limit("The archive holds a file whose name leads out of it.");
    }
    throw error;
  }
};

/** Every file of a ZIP archive in turn, once the archive as a whole has been found sound. */
export const eachPacked = async (
  bytes: Bytes,
  nest: Nest,
  use: (packed: Packed) => Promise<void>,
): Promise<void> => {
  const { zip, entries } = await soundOr(BROKEN, () => opened(bytes));
  let unpacked = 0;

  const counted = (count: number): void => {
    unpacked += count;
    nest.budget.bytes(count);
    if (unpacked > Math.max(HARMLESS_BYTES, bytes.size * MAX_RATIO)) {
      throw limit(`The archive unpacks to over ${MAX_RATIO} times its size.`);
    }
  };

  for (const entry of entries) {
    nest.budget.file();
    const pieces = async function* pieces(): AsyncGenerator<Buffer> {
      const stream = await zip.openReadStreamPromise(entry);
      try {
        for await (const piece of stream as AsyncIterable<Buffer>) {
          counted(piece.byteLength);
          yield piece;
        }
      } finally {
        stream.destroy();
      }
    };
    const packed = { name: entry.fileName, isFolder: entry.fileName.endsWith("/"), pieces };
    // oxlint-disable-next-line no-await-in-loop -- one at a time bounds what is kept
    await soundOr(BROKEN, () => use(packed));
  }
};

const END_SIGNATURE = Buffer.from("PK\x05\x06");
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;

/** True where a ZIP reader would find an archive at the file's end, whatever comes first. */
export const endsAsArchive = async (bytes: Bytes): Promise<boolean> => {
  const length = END_BYTES + MAX_COMMENT_BYTES;
  const tail = await bytes.read(Math.max(0, bytes.size - length), length);
  for (
    let at = tail.lastIndexOf(END_SIGNATURE);
    at >= 0;
    at = tail.lastIndexOf(END_SIGNATURE, at - 1)
  ) {
    const isWhole = at + END_BYTES <= tail.byteLength;
    const isOneDisk = isWhole && tail.readUInt32LE(at + 4) === 0;
    if (isOneDisk && tail.readUInt16LE(at + 8) === tail.readUInt16LE(at + 10)) return true;
    if (at === 0) break;
  }
  return false;
};
