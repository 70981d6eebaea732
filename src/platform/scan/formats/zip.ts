import { forEachEntry, type ArchiveEntry } from "../archive.ts";
import { withSpooledFile } from "../bytes.ts";
import { type Format, mismatch, type ScanContext } from "../scan-context.ts";
import { parseClaimedType } from "../name-and-size.ts";
import { Refusal } from "../port.ts";
import { detectMalware, detectPrograms, runDetectors } from "../signatures.ts";

const MAX_ARCHIVES = 2;

// Metadata files that the file managers of macOS and Windows add to archives.
const LEFT_BEHIND = /^__MACOSX\/|(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/;

const parseBaseName = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

const inspectPacked = async (packed: ArchiveEntry, nest: ScanContext): Promise<void> => {
  if (packed.isFolder) {
    for await (const piece of packed.pieces()) {
      if (piece.byteLength > 0) throw mismatch("The archive holds a folder entry that has data.");
    }
  } else if (LEFT_BEHIND.test(packed.name)) {
    await runDetectors(packed.pieces(), [detectMalware, detectPrograms]);
  } else {
    const type = parseClaimedType(parseBaseName(packed.name));
    await withSpooledFile(packed.pieces(), (bytes) => nest.inspect(type, bytes, nest));
  }
};

/** Checks a ZIP archive whose files must all be of types that are allowed on their own. */
export const checkZip: Format = async (bytes, nest) => {
  const archives = nest.archives + 1;
  if (archives > MAX_ARCHIVES) {
    throw new Refusal("ARCHIVE_LIMIT", `Archives may be nested ${MAX_ARCHIVES} deep at most.`);
  }
  await forEachEntry(bytes, nest, async (packed) => {
    try {
      await inspectPacked(packed, { ...nest, archives });
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === "MALWARE_DETECTED") throw error;
      throw new Refusal(error.code, `A file in the archive was refused: ${error.message}`);
    }
  });
};
