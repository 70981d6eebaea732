import type { Entry } from "yauzl";
import { type Parts, readStructure } from "../../../kit/xlsx/structure.ts";
import type { Content } from "../content.ts";
import { Unreadable } from "../port.ts";
import { type Archive, checkUnpacking, openArchive } from "./archive.ts";
import { readRows } from "./xlsx-rows.ts";
import { parseXml } from "./xml-text.ts";

const MAX_SHEETS = 1000;

const findEntry = ({ entries }: Archive, name: string | undefined): Entry | undefined =>
  entries.find(({ fileName }) => fileName === name);

const toParts = (archive: Archive): Parts => ({
  has: (name) => findEntry(archive, name) !== undefined,
  async parse(name, handlers) {
    const entry = findEntry(archive, name);
    if (entry !== undefined) await parseXml(archive.pieces(entry), handlers);
  },
  refuse: (why) => new Unreadable(`The file is refused: ${why}.`),
});

/**
 * Reads the sheets of a workbook: rows from a place on, and of the texts that cells share only theirs. Libraries read
 * all of them first, which takes seconds and hundreds of megabytes for 150,000 rows.
 *
 * @throws {Unreadable}
 */
export const readXlsx = async (bytes: Uint8Array): Promise<Content> => {
  const archive = await openArchive(bytes);
  checkUnpacking(archive.entries);
  const book = await readStructure(toParts(archive));
  if (book === undefined) throw new Unreadable("The file is no workbook.");
  const sheets = book.sheets.slice(0, MAX_SHEETS);
  return {
    unit: "sheet",
    total: sheets.length,
    async read(section, offset, characters) {
      const { name = "", isHidden = false, target } = sheets[section - 1] ?? {};
      const entry = findEntry(archive, target);
      const quoted = JSON.stringify(name.slice(0, 100));
      if (entry === undefined) throw new Unreadable(`The sheet ${quoted} is missing.`);
      const rows = await readRows(archive, { entry, book }, offset, characters);
      return { name: isHidden ? `${name} (hidden)` : name, ...rows };
    },
  };
};
