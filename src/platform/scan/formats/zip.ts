import { eachPacked, type Packed } from "../archive.ts";
import { spooled } from "../bytes.ts";
import { type Format, mismatch, type Nest } from "../nest.ts";
import { claimedType } from "../outside.ts";
import { Refusal } from "../port.ts";
import { lookForMalware, lookForPrograms, lookThrough } from "../signatures.ts";

const MAX_ARCHIVES = 2;

// What the file managers of macOS and Windows leave in archives that people make with them.
const LEFT_BEHIND = /^__MACOSX\/|(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/;

const baseOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

const inspectPacked = async (packed: Packed, nest: Nest): Promise<void> => {
  if (packed.isFolder) {
    for await (const piece of packed.pieces()) {
      if (piece.byteLength > 0)
        throw mismatch("The archive holds a folder with contents of its own.");
    }
  } else if (LEFT_BEHIND.test(packed.name)) {
    await lookThrough(packed.pieces(), [lookForMalware, lookForPrograms]);
  } else {
    const type = claimedType(baseOf(packed.name));
    await spooled(packed.pieces(), (bytes) => nest.inspect(type, bytes, nest));
  }
};

/** An archive of files that might have been attached themselves. */
export const checkZip: Format = async (bytes, nest) => {
  const archives = nest.archives + 1;
  if (archives > MAX_ARCHIVES) {
    throw new Refusal("ARCHIVE_LIMIT", "An archive may hold archives, but those no more of them.");
  }
  await eachPacked(bytes, nest, async (packed) => {
    try {
      await inspectPacked(packed, { ...nest, archives });
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === "MALWARE_DETECTED") throw error;
      throw new Refusal(error.code, `A file in the archive was refused: ${error.message}`);
    }
  });
};
