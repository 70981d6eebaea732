import type { Entry } from "yauzl";
import type { Content } from "../content.ts";
import { Unreadable } from "../port.ts";
import { type Archive, checkUnpacking, openArchive } from "./archive.ts";
import { readRows } from "./xlsx-rows.ts";
import { readDateStyles } from "./xlsx-values.ts";
import { parseXml } from "./xml-text.ts";

const WORKBOOK = "xl/workbook.xml";
const RELATIONS = "xl/_rels/workbook.xml.rels";
const MAX_SHEETS = 1000;

type Sheet = { name: string; isHidden: boolean; relation: string };
type Workbook = { sheets: Sheet[]; is1904: boolean };

const findEntry = ({ entries }: Archive, name: string): Entry | undefined =>
  entries.find(({ fileName }) => fileName === name);

/** The value of an attribute whose prefix may be any. */
const attributeOf = (attributes: Readonly<Record<string, string>>, name: string): string =>
  Object.entries(attributes).find(([key]) => key.endsWith(`:${name}`))?.[1] ?? "";

const readWorkbook = async (archive: Archive, entry: Entry): Promise<Workbook> => {
  const workbook: Workbook = { sheets: [], is1904: false };
  await parseXml(archive.pieces(entry), {
    open(name, attributes) {
      const { name: title = "", state, date1904 } = attributes;
      if (name === "workbookPr") workbook.is1904 = date1904 === "1" || date1904 === "true";
      if (name !== "sheet" || workbook.sheets.length >= MAX_SHEETS) return;
      const isHidden = state !== undefined && state !== "visible";
      workbook.sheets.push({ name: title, isHidden, relation: attributeOf(attributes, "id") });
    },
    close() {},
    text() {},
  });
  return workbook;
};

/** The paths of the parts that a workbook names, by the ids of their relations. */
const readTargets = async (archive: Archive): Promise<Map<string, string>> => {
  const targets = new Map<string, string>();
  const entry = findEntry(archive, RELATIONS);
  if (entry === undefined) return targets;
  await parseXml(archive.pieces(entry), {
    open(name, { Id = "", Target = "" }) {
      if (name !== "Relationship") return;
      targets.set(Id, Target.startsWith("/") ? Target.slice(1) : `xl/${Target}`);
    },
    close() {},
    text() {},
  });
  return targets;
};

/**
 * Reads the sheets of a workbook: rows from a place on, and of the texts that cells share only theirs. Libraries read
 * all of them first, which takes seconds and hundreds of megabytes for 150,000 rows.
 *
 * @throws {Unreadable}
 */
export const readXlsx = async (bytes: Uint8Array): Promise<Content> => {
  const archive = await openArchive(bytes);
  checkUnpacking(archive.entries);
  const entry = findEntry(archive, WORKBOOK);
  if (entry === undefined) throw new Unreadable("The file is no workbook.");
  const { sheets, is1904 } = await readWorkbook(archive, entry);
  const targets = await readTargets(archive);
  const formats = { isDate: await readDateStyles(archive), is1904 };
  return {
    unit: "sheet",
    total: sheets.length,
    async read(section, offset, characters) {
      const { name = "", isHidden = false, relation = "" } = sheets[section - 1] ?? {};
      const sheet = findEntry(archive, targets.get(relation) ?? "");
      const quoted = JSON.stringify(name.slice(0, 100));
      if (sheet === undefined) throw new Unreadable(`The sheet ${quoted} is missing.`);
      const rows = await readRows(archive, { entry: sheet, formats }, offset, characters);
      return { name: isHidden ? `${name} (hidden)` : name, ...rows };
    },
  };
};
