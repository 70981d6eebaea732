import { spool } from "./bytes.ts";
import { checkNameAndSize } from "./name-and-size.ts";
import { type ScannedFile, type Scanner, toVerdict } from "./port.ts";
import { checkInThread } from "./thread.ts";

/** Yields a file's bytes, and throws unless there are exactly as many as recorded. */
async function* readExactly({ size, open }: ScannedFile): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const chunk of await open()) {
    count += chunk.byteLength;
    if (count > size) break;
    yield chunk;
  }
  if (count !== size) throw new Error(`the file's size differs from the ${size} bytes recorded`);
}

/**
 * Scans files by their contents: allowed type, valid structure, bounded archives, no program, script or test
 * virus in them. The file is spooled to disk, and read in pieces of at most 64 KiB by a worker thread.
 */
export const builtInScanner: Scanner = {
  scan: (file) =>
    toVerdict(async () => {
      const type = checkNameAndSize(file);
      return checkInThread({ type, ...(await spool(readExactly(file))) });
    }),
};
