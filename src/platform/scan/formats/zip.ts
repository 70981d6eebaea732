import type { ArchiveEntry } from "../../formats/zip.ts";
import { withSpooledFile } from "../../../kit/bytes.ts";
import { checkContained, checkContainedName } from "../contained.ts";
import { checkPart, deepen, mismatch, parseOrRefuse, readArchive } from "../scan-context.ts";
import type { Format, ScanContext } from "../scan-context.ts";
import { detectMalware, detectPrograms, runDetectors } from "../signatures.ts";
import { checkParts, isPackage } from "./office.ts";

const MAX_ARCHIVES = 2;
// Metadata that the file managers of macOS and Windows add to archives.
const LEFT_BEHIND = /^__MACOSX\/(?:.{1,500}\/)?\._[^/]{1,255}$|(?:^|\/)(?:\.DS_Store|Thumbs\.db)$/;
const OPEN_DOCUMENT = "META-INF/manifest.xml";
const OPEN_DOCUMENT_SCRIPTS = /^(?:Basic|Scripts)\/./;
const BROKEN = "The file cannot be unpacked: the archive is damaged.";

const checkEntry = async (entry: ArchiveEntry, nest: ScanContext): Promise<void> => {
  const { name, rawName, isFolder, isReadable, pieces } = entry;
  checkContainedName(name);
  checkContainedName(rawName.replaceAll(/[^ -~]/g, "_"));
  if (!isReadable) {
    return nest.warn("UNREADABLE_PART", "not checked, because its compression method is unusual.");
  }
  await parseOrRefuse(BROKEN, () =>
    isFolder || LEFT_BEHIND.test(name)
      ? runDetectors(pieces(), [detectMalware, detectPrograms])
      : withSpooledFile(pieces(), (file) => checkContained([name], file, nest)),
  );
};

/** Checks a ZIP archive and all files in it; inside another file, also Office files under other names. */
export const checkZip: Format = async (bytes, outer) => {
  const { archives, mails } = outer.depth;
  const entries = await readArchive(bytes, outer, "archive");
  if (isPackage(entries)) {
    if (archives + mails === 0) throw mismatch("The contents are an Office file, no .zip.");
    await checkParts(bytes, outer);
    return;
  }
  const isDocument = entries.some(({ name }) => name === OPEN_DOCUMENT);
  // The parts of an OpenDocument file are XML of its own kinds.
  const nest = isDocument ? { ...outer, warn: () => {} } : deepen(outer, "archives", MAX_ARCHIVES);
  for (const entry of entries) {
    // One at a time bounds the space on disk.
    await checkPart(entry.name, nest, async (inner) => {
      if (isDocument && OPEN_DOCUMENT_SCRIPTS.test(entry.name)) throw mismatch("These are macros.");
      await checkEntry(entry, inner);
    });
  }
};
