import { posix } from "node:path";
import { createWorkbookProblem, type Handlers, type Package, readPart } from "./package.ts";
import { describeFormat, type NumberFormat, STANDARD_FORMATS } from "./formats.ts";

export type Sheet = { name: string; part: string; isHidden: boolean };

/** A workbook: its sheets, the texts that cells refer to, the number formats of styles, and the first day of dates. */
export type Workbook = {
  parts: Package;
  sheets: readonly Sheet[];
  strings: readonly string[];
  formats: readonly NumberFormat[];
  is1904: boolean;
};

const MOST_TEXT = 100_000_000;
const MOST_STYLES = 65_536;

const noText = { text: () => {}, close: () => {} };

type Relation = { type: string; target: string };

/** Reads the relations of a part by id; targets are names of parts. */
const readRelations = async (parts: Package, part: string): Promise<Map<string, Relation>> => {
  const folder = posix.dirname(part);
  const name = posix.join(folder, "_rels", `${posix.basename(part)}.rels`);
  const relations = new Map<string, Relation>();
  if (!parts.has(name)) return relations;
  await readPart(parts, name, {
    ...noText,
    open(tag, { Id = "", Type = "", Target = "" }) {
      if (tag !== "Relationship") return;
      const target = Target.startsWith("/") ? Target.slice(1) : posix.join(folder, Target);
      relations.set(Id, { type: Type.slice(Type.lastIndexOf("/") + 1), target });
    },
  });
  return relations;
};

const findTarget = (relations: Map<string, Relation>, type: string): string | undefined =>
  [...relations.values()].find((relation) => relation.type === type)?.target;

const isTrue = (value: string | undefined): boolean => value === "1" || value === "true";

const readSheets = async (parts: Package, part: string, relations: Map<string, Relation>) => {
  const sheets: Sheet[] = [];
  let is1904 = false;
  await readPart(parts, part, {
    ...noText,
    open(tag, attributes) {
      if (tag === "workbookPr") is1904 = isTrue(attributes["date1904"]);
      if (tag !== "sheet") return;
      const id = Object.entries(attributes).find(([name]) => name.endsWith(":id"))?.[1] ?? "";
      const relation = relations.get(id);
      if (relation?.type !== "worksheet") return;
      const { name = "", state = "visible" } = attributes;
      sheets.push({ name, part: relation.target, isHidden: state !== "visible" });
    },
  });
  return { sheets, is1904 };
};

/** Collects the texts of elements, without the phonetic readings beside them. */
export const createTextCollector = (): Handlers & { take(): string } => {
  let text = "";
  let isText = false;
  let phonetic = 0;
  return {
    open(tag) {
      if (tag === "rPh") phonetic += 1;
      isText = tag === "t" && phonetic === 0;
    },
    text(more) {
      if (isText) text += more;
    },
    close(tag) {
      if (tag === "rPh") phonetic -= 1;
      isText = false;
    },
    take() {
      const taken = text;
      text = "";
      return decodeEscapes(taken);
    },
  };
};

// Characters that XML does not allow are written so (ECMA-376 part 1, 22.9.2.19).
const ESCAPE = /_x([0-9A-Fa-f]{4})_/g;

const decodeEscapes = (text: string): string =>
  text.includes("_x")
    ? text.replaceAll(ESCAPE, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;

const readStrings = async (parts: Package, part: string | undefined): Promise<string[]> => {
  const strings: string[] = [];
  if (part === undefined || !parts.has(part)) return strings;
  const collector = createTextCollector();
  let size = 0;
  await readPart(parts, part, {
    open: collector.open,
    text: collector.text,
    close(tag) {
      collector.close(tag);
      if (tag !== "si") return;
      const text = collector.take();
      size += text.length;
      if (size > MOST_TEXT) throw createWorkbookProblem("its texts are too long");
      strings.push(text);
    },
  });
  return strings;
};

const readFormats = async (parts: Package, part: string | undefined): Promise<NumberFormat[]> => {
  const formats: NumberFormat[] = [];
  if (part === undefined || !parts.has(part)) return formats;
  const custom = new Map<string, NumberFormat>();
  let isCells = false;
  await readPart(parts, part, {
    ...noText,
    open(tag, { numFmtId = "0", formatCode = "" }) {
      if (tag === "cellXfs") isCells = true;
      if (tag === "numFmt") custom.set(numFmtId, describeFormat(formatCode));
      if (tag !== "xf" || !isCells) return;
      if (formats.length >= MOST_STYLES) throw createWorkbookProblem("it has too many styles");
      formats.push(custom.get(numFmtId) ?? STANDARD_FORMATS(Number(numFmtId)));
    },
    close(tag) {
      if (tag === "cellXfs") isCells = false;
    },
  });
  return formats;
};

/** Opens a workbook (ECMA-376 part 1, SpreadsheetML). */
export const readWorkbook = async (parts: Package): Promise<Workbook> => {
  const main = findTarget(await readRelations(parts, ""), "officeDocument") ?? "xl/workbook.xml";
  if (!parts.has(main)) throw createWorkbookProblem("it is an archive without a workbook");
  const relations = await readRelations(parts, main);
  const { sheets, is1904 } = await readSheets(parts, main, relations);
  return {
    parts,
    sheets,
    is1904,
    strings: await readStrings(parts, findTarget(relations, "sharedStrings")),
    formats: await readFormats(parts, findTarget(relations, "styles")),
  };
};
