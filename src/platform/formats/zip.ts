import { Readable } from "node:stream";
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from "yauzl";
import type { Bytes } from "../../kit/bytes.ts";
import { FormatProblem } from "./format-problem.ts";

const ENCRYPTED = 0x41;
const AES = 99;
const METHODS = [0, 8];

const createBroken = () =>
  new FormatProblem("broken", "The archive is broken, or its index and its contents disagree.");
const createLimit = (message: string) => new FormatProblem("limit", message);

/** Limits of one archive; the functions count what all archives have together. */
export type ArchiveLimits = {
  /** The largest ratio of a file to its packed form. */
  maxRatio: number;
  /** Up to this size the ratio is not limited. */
  freeBytes: number;
  countEntry(): void;
  countBytes(count: number): void;
};

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
  /** The name in its raw bytes, which some programs show. */
  rawName: string;
  isFolder: boolean;
  /** Whether the compression method is known, so that `pieces` can unpack the entry. */
  isReadable: boolean;
  /** Unpacks the entry as a stream. @throws {FormatProblem} */
  pieces(): AsyncGenerator<Buffer>;
};

// Kinds of Unix: named pipe, devices, symbolic link, socket.
const SPECIAL = new Set([0x1000, 0x2000, 0x6000, 0xa000, 0xc000]);

const checkEntry = (entry: Entry, { freeBytes, maxRatio }: ArchiveLimits): void => {
  const { fileName, compressedSize, uncompressedSize } = entry;
  if ((entry.generalPurposeBitFlag & ENCRYPTED) !== 0 || entry.compressionMethod === AES) {
    const message = `${fileName} is encrypted and cannot be scanned. Make a ZIP without a password.`;
    throw new FormatProblem("encrypted", message);
  }
  if (SPECIAL.has((entry.externalFileAttributes >>> 16) & 0xf000)) {
    throw createLimit(`${fileName} is a link or a device, not a file.`);
  }
  if (uncompressedSize > Math.max(freeBytes, compressedSize * maxRatio)) {
    throw createLimit(`${fileName} unpacks to over ${maxRatio} times its size.`);
  }
};

/** Returns where an entry's header and data lie. The local header must agree with the central directory. */
const findExtent = async (zip: ZipFile, entry: Entry): Promise<[from: number, to: number]> => {
  const local = await zip.readLocalFileHeaderPromise(entry);
  const isAlike =
    local.fileName.equals(entry.fileNameRaw) &&
    local.compressionMethod === entry.compressionMethod &&
    (local.generalPurposeBitFlag & ENCRYPTED) === 0;
  if (!isAlike) throw createBroken();
  return [entry.relativeOffsetOfLocalHeader, local.fileDataStart + entry.compressedSize];
};

/** Refuses entries that overlap, and entries between them that the central directory does not list. */
const checkExtents = async (bytes: Bytes, zip: ZipFile, entries: Entry[], indexAt: number) => {
  const places: [number, number][] = [[indexAt, indexAt]];
  for (const entry of entries) places.push(await findExtent(zip, entry));
  let end = 0;
  for (const [from, to] of places.toSorted(([one], [other]) => one - other)) {
    const gap = from > end ? await bytes.read(end, from - end) : undefined;
    if (
      from < end ||
      (end === 0 && from !== indexAt && from !== 0) ||
      gap?.includes("PK\x03\x04")
    ) {
      throw createBroken();
    }
    end = to;
  }
};

const LEADS_OUT = /^(?:invalid characters in fileName|absolute path|invalid relative path)/;

const openArchive = async (bytes: Bytes, limits: ArchiveLimits) => {
  const options = { autoClose: false };
  const zip = await fromRandomAccessReaderPromise(new BytesReader(bytes), bytes.size, options);
  const indexAt = Number(zip.readEntryCursor);
  const entries: Entry[] = [];
  for await (const entry of zip.eachEntry()) {
    limits.countEntry();
    checkEntry(entry, limits);
    entries.push(entry);
  }
  await checkExtents(bytes, zip, entries, indexAt);
  return { zip, entries };
};

/**
 * Returns the entries of a ZIP archive, after its whole index was checked.
 *
 * @throws {FormatProblem}
 */
export const readEntries = async (bytes: Bytes, limits: ArchiveLimits): Promise<ArchiveEntry[]> => {
  const { zip, entries } = await openArchive(bytes, limits).catch((error: unknown) => {
    if (!(error instanceof Error) || !LEADS_OUT.test(error.message)) throw error;
    throw createLimit("The archive holds a file whose path leads out of the archive.");
  });
  const { freeBytes, maxRatio } = limits;
  let unpacked = 0;
  const countBytes = (more: number): void => {
    unpacked += more;
    limits.countBytes(more);
    if (unpacked <= Math.max(freeBytes, bytes.size * maxRatio)) return;
    throw createLimit(`The archive unpacks to over ${maxRatio} times its size.`);
  };
  return entries.map((entry) => {
    let counted = 0;
    return {
      name: entry.fileName,
      rawName: entry.fileNameRaw.toString("latin1"),
      isFolder: entry.fileName.endsWith("/"),
      isReadable: METHODS.includes(entry.compressionMethod),
      async *pieces() {
        const stream = await zip.openReadStreamPromise(entry);
        let read = 0;
        try {
          for await (const piece of stream as AsyncIterable<Buffer>) {
            read += piece.byteLength;
            // Parts of Office files are read twice, and counted once.
            countBytes(Math.max(0, read - counted));
            counted = Math.max(read, counted);
            yield piece;
          }
        } finally {
          stream.destroy();
        }
      },
    };
  });
};
