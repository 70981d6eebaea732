import { spooled } from "./bytes.ts";
import { inspectUpload } from "./inspect.ts";
import { checkOutside } from "./outside.ts";
import { type ScannedFile, type Scanner, verdictOf } from "./port.ts";

/** A file's bytes, as many as it was said to have. */
async function* whole({ size, open }: ScannedFile): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const chunk of await open()) {
    count += chunk.byteLength;
    if (count > size) break;
    yield chunk;
  }
  if (count !== size) throw new Error(`the file has another size than the ${size} bytes recorded`);
}

/**
 * Judges files by what they are: allowed type, sound structure, bounded archives, no program, script or test
 * virus in them. It holds one piece of a file in memory at a time; the file lies on the disk while it looks.
 */
export const builtInScanner: Scanner = {
  scan: (file) =>
    verdictOf(async () => {
      const type = checkOutside(file);
      await spooled(whole(file), (bytes) => inspectUpload(type, bytes));
    }),
};
