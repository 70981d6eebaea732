import { crc32 } from "node:zlib";
import { type Entry, fromBufferPromise, fromFdPromise, type ZipFile } from "yauzl";
import { createMalformed } from "./bank/file.ts";
import { detectContent } from "./detect.ts";

const MAX_MEMBERS = 1000;
const MAX_TOTAL_BYTES = 2 * 1024 ** 3;
const MAX_RATIO = 200;
// Up to this size the compression ratio is not limited: repeated text compresses a lot.
const ALWAYS_ALLOWED_BYTES = 16 * 1024 * 1024;

const ENCRYPTED = 0x41;
const AES = 99;
const STORED = 0;
const DEFLATED = 8;

/** An open file, by its descriptor. */
export type OpenFile = { readonly fd: number };

/** A file in a ZIP archive. */
export type ArchiveMember = {
  name: string;
  size: number;
  /** Opens the unpacked file from its start, as often as needed. */
  bytes(): AsyncGenerator<Uint8Array, void, undefined>;
};

const describe = (name: string): string => `the archive's file ${JSON.stringify(name)}`;

// macOS adds a folder of file attributes, or files of them beside each file; Windows and macOS describe folders in files.
const ADDED = /(?:^|\/)(?:__MACOSX\/|\._|(?:\.DS_Store|Thumbs\.db|desktop\.ini)$)/i;

const isFile = ({ fileName }: Entry): boolean => !fileName.endsWith("/") && !ADDED.test(fileName);

const checkEntry = (entry: Entry): void => {
  const { fileName, generalPurposeBitFlag, compressionMethod } = entry;
  const place = describe(fileName);
  if ((generalPurposeBitFlag & ENCRYPTED) !== 0 || compressionMethod === AES)
    throw createMalformed(place, "is encrypted; make an archive without a password");
  if (![STORED, DEFLATED].includes(compressionMethod))
    throw createMalformed(place, "has an unknown compression; make a ZIP with deflate");
  const { compressedSize, uncompressedSize } = entry;
  if (uncompressedSize > Math.max(ALWAYS_ALLOWED_BYTES, compressedSize * MAX_RATIO))
    throw createMalformed(place, `unpacks to over ${MAX_RATIO} times its size`);
};

const listEntries = async (zip: ZipFile): Promise<Entry[]> => {
  const entries: Entry[] = [];
  const names = new Set<string>();
  let total = 0;
  for await (const entry of zip.eachEntry()) {
    if (!isFile(entry)) continue;
    checkEntry(entry);
    if (names.has(entry.fileName))
      throw createMalformed(describe(entry.fileName), "is in the archive twice");
    names.add(entry.fileName);
    entries.push(entry);
    total += entry.uncompressedSize;
    if (entries.length > MAX_MEMBERS)
      throw createMalformed("the archive", `has more than ${MAX_MEMBERS} files`);
    if (total > MAX_TOTAL_BYTES)
      throw createMalformed("the archive", `unpacks to more than ${MAX_TOTAL_BYTES} bytes`);
  }
  return entries;
};

const isProblem = (error: unknown): boolean => error instanceof Error && "code" in error;

const toBroken = (place: string, error: unknown): unknown =>
  isProblem(error) || !(error instanceof Error)
    ? error
    : createMalformed(place, `is broken: ${error.message}`);

async function* unpack(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array, void, undefined> {
  const place = describe(entry.fileName);
  let isFirst = true;
  let sum = 0;
  const stream = await zip.openReadStreamPromise(entry);
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      if (isFirst && detectContent(piece) === "zip")
        throw createMalformed(place, "is an archive again; unpack it first");
      isFirst = false;
      sum = crc32(piece, sum);
      yield piece;
    }
  } catch (error) {
    throw toBroken(place, error);
  } finally {
    stream.destroy();
  }
  if (sum !== entry.crc32) throw createMalformed(place, "is damaged: its checksum differs");
}

/**
 * Reads and checks the index of a ZIP archive, which is an open file or bytes. The members are read later: the file must
 * stay as it is, and open, until then.
 */
export const readArchive = async (
  source: OpenFile | Uint8Array,
): Promise<readonly ArchiveMember[]> => {
  const options = { autoClose: false, strictFileNames: false };
  try {
    const zip =
      source instanceof Uint8Array
        ? await fromBufferPromise(Buffer.from(source), options)
        : await fromFdPromise(source.fd, options);
    return (await listEntries(zip)).map((entry) => ({
      name: entry.fileName,
      size: entry.uncompressedSize,
      bytes: () => unpack(zip, entry),
    }));
  } catch (error) {
    throw toBroken("the archive", error);
  }
};
