import { type Entry, fromBufferPromise, type ZipFile } from "yauzl";
import { Unreadable } from "../port.ts";

const MAX_ENTRIES = 10_000;
/** The most bytes that the parts of one file may unpack to, by the sizes in its index. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;

const ENCRYPTED = 0x41;
const DEFLATED = 8;
/** The start of older Office files, and of newer ones with a password. */
const OLE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0]);

export type Archive = {
  entries: readonly Entry[];
  /** Unpacks an entry piece by piece. */
  pieces(entry: Entry): AsyncGenerator<Buffer>;
  /** Unpacks an entry of so many bytes at most; undefined if there is none of this name. */
  read(name: string, most: number): Promise<Buffer | undefined>;
};

const damaged = (): Unreadable =>
  new Unreadable("The file is damaged, or its contents are not what its name says.");

const listEntries = async (zip: ZipFile): Promise<Entry[]> => {
  if (zip.entryCount > MAX_ENTRIES) {
    throw new Unreadable(`The file has ${zip.entryCount} parts; ${MAX_ENTRIES} are read at most.`);
  }
  const entries: Entry[] = [];
  for await (const entry of zip.eachEntry()) entries.push(entry);
  return entries;
};

const openZip = async (bytes: Uint8Array): Promise<{ zip: ZipFile; entries: Entry[] }> => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.subarray(0, OLE.length).equals(OLE)) {
    throw new Unreadable("The file has a password, or it is of an Office before 2007.");
  }
  try {
    const zip = await fromBufferPromise(buffer, { autoClose: false });
    return { zip, entries: await listEntries(zip) };
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    throw damaged();
  }
};

const isHonest = ({ compressionMethod, compressedSize, uncompressedSize }: Entry): boolean =>
  compressionMethod !== DEFLATED ? compressedSize === uncompressedSize : compressedSize > 0;

/** Refuses an archive that is encrypted, unpacks to too much, or hides how much that is. */
export const checkUnpacking = (entries: readonly Entry[]): void => {
  let bytes = 0;
  for (const entry of entries) {
    if ((entry.generalPurposeBitFlag & ENCRYPTED) !== 0) {
      throw new Unreadable("The file is encrypted and needs a password.");
    }
    if (!isHonest(entry)) throw damaged();
    // A part without a stated size could unpack to anything.
    bytes += entry.uncompressedSize === 0 ? entry.compressedSize * 1000 : entry.uncompressedSize;
  }
  if (bytes > MAX_UNPACKED_BYTES) {
    throw new Unreadable(`The file unpacks to over ${MAX_UNPACKED_BYTES / 1024 / 1024} MiB.`);
  }
};

/** Opens a ZIP archive. @throws {Unreadable} */
export const openArchive = async (bytes: Uint8Array): Promise<Archive> => {
  const { zip, entries } = await openZip(bytes);
  const pieces: Archive["pieces"] = async function* pieces(entry) {
    const stream = await zip.openReadStreamPromise(entry).catch(() => {
      throw damaged();
    });
    try {
      for await (const piece of stream as AsyncIterable<Buffer>) yield piece;
    } catch {
      throw damaged();
    } finally {
      stream.destroy();
    }
  };
  return {
    entries,
    pieces,
    async read(name, most) {
      const entry = entries.find(({ fileName }) => fileName === name);
      if (entry === undefined) return undefined;
      if (entry.uncompressedSize > most) throw new Unreadable(`Its part ${name} is too large.`);
      const parts: Buffer[] = [];
      for await (const piece of pieces(entry)) parts.push(piece);
      return Buffer.concat(parts);
    },
  };
};
