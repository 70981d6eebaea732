import { type Handlers, readStructure, type Structure } from "../../../kit/xlsx/structure.ts";
import { createWorkbookProblem, type Package, readPart } from "./package.ts";

export type Sheet = { name: string; part: string; isHidden: boolean };

/** A workbook: its sheets, the texts that cells refer to, the number formats of styles, and the first day of dates. */
export type Workbook = Pick<Structure, "formats" | "is1904"> & {
  parts: Package;
  sheets: readonly Sheet[];
  strings: readonly string[];
};

const MOST_TEXT = 100_000_000;

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

/** Opens a workbook (ECMA-376 part 1, SpreadsheetML). */
export const readWorkbook = async (parts: Package): Promise<Workbook> => {
  const structure = await readStructure({
    has: parts.has,
    parse: (name, handlers) => readPart(parts, name, handlers),
    refuse: createWorkbookProblem,
  });
  if (structure === undefined) throw createWorkbookProblem("it is an archive without a workbook");
  return {
    ...structure,
    parts,
    sheets: structure.sheets.flatMap(({ name, isHidden, type, target: part = "" }) =>
      type === "worksheet" ? { name, part, isHidden } : [],
    ),
    strings: await readStrings(parts, structure.strings),
  };
};
