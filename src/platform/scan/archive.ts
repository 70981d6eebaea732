import { Readable } from "node:stream";
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from "yauzl";
import type { Bytes } from "./bytes.ts";
import { mismatch, type ScanContext, parseOrRefuse } from "./scan-context.ts";
import { Refusal } from "./port.ts";

const MAX_ENTRIES = 1000;
const MAX_RATIO = 100;
// Up to this size the compression ratio is not limited: small files of repeated text compress a lot.
const ALWAYS_ALLOWED_BYTES = 1024 * 1024;

const ENCRYPTED = 0x41;
const AES = 99;
const STORED = 0;
const DEFLATED = 8;
const BROKEN = "The archive is broken, or its index and its contents disagree.";

const createLimitRefusal = (message: string): Refusal => new Refusal("ARCHIVE_LIMIT", message);

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

export type ArchiveEntry = {
  name: string;
  isFolder: boolean;
  /** Unpacks the entry as a stream. @throws {Refusal} ARCHIVE_LIMIT when the archive exceeds its limits */
  pieces(): AsyncGenerator<Buffer>;
};

const parseFileKind = (entry: Entry): number => (entry.externalFileAttributes >>> 16) & 0xf000;
const FOLDER = 0x4000;
const FILE = 0x8000;

const checkEntry = (entry: Entry): void => {
  if ((entry.generalPurposeBitFlag & ENCRYPTED) !== 0 || entry.compressionMethod === AES) {
    throw new Refusal(
      "ENCRYPTED_ARCHIVE",
      "The archive is encrypted and cannot be scanned. Make one without a password.",
    );
  }
  if (![STORED, DEFLATED].includes(entry.compressionMethod)) {
    throw createLimitRefusal(
      "The archive uses an unsupported compression method. Make a ZIP with deflate.",
    );
  }
  if (![0, FOLDER, FILE].includes(parseFileKind(entry))) {
    throw createLimitRefusal("The archive holds a link or a device.");
  }
  const { compressedSize, uncompressedSize } = entry;
  if (uncompressedSize > Math.max(ALWAYS_ALLOWED_BYTES, compressedSize * MAX_RATIO)) {
    throw createLimitRefusal(
      `The archive holds a file that unpacks to over ${MAX_RATIO} times its size.`,
    );
  }
};

/** Returns where an entry's header and data lie. The local header must agree with the central directory. */
const findExtent = async (zip: ZipFile, entry: Entry): Promise<{ from: number; to: number }> => {
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

const checkExtents = async (zip: ZipFile, entries: Entry[], indexAt: number): Promise<void> => {
  const places = [];
  for (const entry of entries) places.push(await findExtent(zip, entry));
  let end = 0;
  for (const { from, to } of places.toSorted((one, other) => one.from - other.from)) {
    if (from < end || (end === 0 && from !== 0)) throw mismatch(BROKEN);
    end = to;
  }
  if (end > indexAt) throw mismatch(BROKEN);
};

const listEntries = async (zip: ZipFile): Promise<Entry[]> => {
  const tooMany = () => createLimitRefusal(`An archive may hold ${MAX_ENTRIES} files at most.`);
  if (zip.entryCount > MAX_ENTRIES) throw tooMany();
  const entries: Entry[] = [];
  const names = new Set<string>();
  for await (const entry of zip.eachEntry()) {
    checkEntry(entry);
    entries.push(entry);
    names.add(entry.fileName.toLowerCase());
  }
  if (names.size < entries.length)
    throw mismatch("The archive holds two files with the same name.");
  return entries;
};

const LEADS_OUT = /^(?:invalid characters in fileName|absolute path|invalid relative path)/;

const openArchive = async (bytes: Bytes): Promise<{ zip: ZipFile; entries: Entry[] }> => {
  const zip = await fromRandomAccessReaderPromise(new BytesReader(bytes), bytes.size, {
    autoClose: false,
    strictFileNames: true,
  });
  const indexAt = Number(zip.readEntryCursor);
  try {
    const entries = await listEntries(zip);
    await checkExtents(zip, entries, indexAt);
    return { zip, entries };
  } catch (error) {
    if (error instanceof Error && LEADS_OUT.test(error.message)) {
      throw createLimitRefusal("The archive holds a file whose path leads out of the archive.");
    }
    throw error;
  }
};

/**
 * Calls `use` for each entry of a ZIP archive, one at a time, after the whole index was checked.
 *
 * @throws {Refusal} ENCRYPTED_ARCHIVE, ARCHIVE_LIMIT or TYPE_MISMATCH
 */
export const forEachEntry = async (
  bytes: Bytes,
  nest: ScanContext,
  use: (packed: ArchiveEntry) => Promise<void>,
): Promise<void> => {
  const { zip, entries } = await parseOrRefuse(BROKEN, () => openArchive(bytes));
  let unpacked = 0;

  const countBytes = (count: number): void => {
    unpacked += count;
    nest.budget.bytes(count);
    if (unpacked > Math.max(ALWAYS_ALLOWED_BYTES, bytes.size * MAX_RATIO)) {
      throw createLimitRefusal(`The archive unpacks to over ${MAX_RATIO} times its size.`);
    }
  };

  for (const entry of entries) {
    nest.budget.file();
    const pieces = async function* pieces(): AsyncGenerator<Buffer> {
      const stream = await zip.openReadStreamPromise(entry);
      try {
        for await (const piece of stream as AsyncIterable<Buffer>) {
          countBytes(piece.byteLength);
          yield piece;
        }
      } finally {
        stream.destroy();
      }
    };
    const packed = { name: entry.fileName, isFolder: entry.fileName.endsWith("/"), pieces };
    // One at a time bounds the space on disk.
    await parseOrRefuse(BROKEN, () => use(packed));
  }
};

const END_SIGNATURE = Buffer.from("PK\x05\x06");
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;

/** Returns whether a ZIP reader would find an archive at the file's end, independent of its first bytes. */
export const endsWithArchive = async (bytes: Bytes): Promise<boolean> => {
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
