import { posix } from "node:path";
import { describeFormat, type NumberFormat, STANDARD_FORMATS } from "./formats.ts";

/** Receives the elements of a part; names have no namespace prefix. */
export type Handlers = {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  text(text: string): void;
  close(name: string): void;
};

/** The parts of an Office Open XML package (ECMA-376 part 2), by names without a leading slash. */
export type Parts = {
  has(name: string): boolean;
  parse(name: string, handlers: Handlers): Promise<void>;
  /** Creates the error with which a package is refused. */
  refuse(why: string): Error;
};

type Relation = { type: string; target: string };

/** A sheet in the order of the workbook; `type` is `worksheet` for one with cells. */
export type Sheet = { name: string; isHidden: boolean } & Partial<Relation>;

/** What a workbook has beside its cells: `strings` is the part with the texts that cells refer to. */
export type Structure = {
  sheets: readonly Sheet[];
  strings: string | undefined;
  /** The number formats of styles. */
  formats: readonly NumberFormat[];
  is1904: boolean;
};

const MOST_STYLES = 65_536;

const NOTHING = { text: () => {}, close: () => {} };

/** Reads the relations of a part by id; targets are names of parts. */
const readRelations = async (parts: Parts, part: string): Promise<Map<string, Relation>> => {
  const folder = posix.dirname(part);
  const name = posix.join(folder, "_rels", `${posix.basename(part)}.rels`);
  const relations = new Map<string, Relation>();
  if (!parts.has(name)) return relations;
  await parts.parse(name, {
    ...NOTHING,
    open(tag, { Id = "", Type = "", Target = "" }) {
      if (tag !== "Relationship") return;
      const target = Target.startsWith("/") ? Target.slice(1) : posix.join(folder, Target);
      relations.set(Id, { type: Type.slice(Type.lastIndexOf("/") + 1), target });
    },
  });
  return relations;
};

const findTarget = (relations: Map<string, Relation>, type: string): string | undefined =>
  relations.values().find((relation) => relation.type === type)?.target;

const isTrue = (value: string | undefined): boolean => value === "1" || value === "true";

const readSheets = async (parts: Parts, part: string, relations: Map<string, Relation>) => {
  const sheets: Sheet[] = [];
  let is1904 = false;
  await parts.parse(part, {
    ...NOTHING,
    open(tag, attributes) {
      if (tag === "workbookPr") is1904 = isTrue(attributes["date1904"]);
      if (tag !== "sheet") return;
      const id = Object.entries(attributes).find(([name]) => name.endsWith(":id"))?.[1] ?? "";
      const { name = "", state = "visible" } = attributes;
      sheets.push({ name, isHidden: state !== "visible", ...relations.get(id) });
    },
  });
  return { sheets, is1904 };
};

const readFormats = async (parts: Parts, part: string | undefined): Promise<NumberFormat[]> => {
  const formats: NumberFormat[] = [];
  if (part === undefined || !parts.has(part)) return formats;
  const custom = new Map<string, NumberFormat>();
  let isCells = false;
  await parts.parse(part, {
    ...NOTHING,
    open(tag, { numFmtId = "0", formatCode = "" }) {
      if (tag === "cellXfs") isCells = true;
      if (tag === "numFmt") custom.set(numFmtId, describeFormat(formatCode));
      if (tag !== "xf" || !isCells) return;
      if (formats.length >= MOST_STYLES) throw parts.refuse("it has too many styles");
      formats.push(custom.get(numFmtId) ?? STANDARD_FORMATS(Number(numFmtId)));
    },
    close(tag) {
      if (tag === "cellXfs") isCells = false;
    },
  });
  return formats;
};

/** Reads the structure of a workbook (ECMA-376 part 1, SpreadsheetML); undefined if the package has none. */
export const readStructure = async (parts: Parts): Promise<Structure | undefined> => {
  const main = findTarget(await readRelations(parts, ""), "officeDocument") ?? "xl/workbook.xml";
  if (!parts.has(main)) return undefined;
  const relations = await readRelations(parts, main);
  return {
    ...(await readSheets(parts, main, relations)),
    strings: findTarget(relations, "sharedStrings"),
    formats: await readFormats(parts, findTarget(relations, "styles")),
  };
};

const REFERENCE = /^\$?([A-Z]{1,3})\$?\d{1,7}$/;
const A = 64;

/** Returns the column of a reference such as `AB12`, counted from 0. */
export const parseColumn = (reference: string): number | undefined => {
  const letters = REFERENCE.exec(reference)?.[1];
  if (letters === undefined) return undefined;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - A, 0) - 1;
};
