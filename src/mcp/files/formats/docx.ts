import type { Entry } from "yauzl";
import { type Content, toParts } from "../content.ts";
import { Unreadable } from "../port.ts";
import { type Archive, checkUnpacking, openArchive } from "./archive.ts";
import { parseXml } from "./xml-text.ts";

/** A document may have so many characters; a longer one is cut here. */
const MAX_CHARACTERS = 20_000_000;

/** Elements whose text is not part of the document: what Word shows only if it cannot show something else. */
const SKIPPED = new Set(["Fallback", "tabs", "rPr", "pPr", "sectPr"]);

const BREAKS: Readonly<Record<string, string>> = { tab: "\t", br: "\n", cr: "\n" };

/** Collects the text of a part: a paragraph is a line, and a row of a table is a line with tabs between its cells. */
const createWriter = () => {
  const parts: string[] = [];
  let [length, cells, skipped, isText] = [0, 0, 0, false];
  const add = (text: string): void => {
    if (length > MAX_CHARACTERS) return;
    length += text.length;
    parts.push(text);
  };
  return {
    open(name: string): void {
      if (skipped > 0 || SKIPPED.has(name)) skipped += 1;
      else if (name === "tc") cells += 1;
      else if (name === "t") isText = true;
      else if (BREAKS[name] !== undefined) add(cells > 0 ? " " : BREAKS[name]);
    },
    close(name: string): void {
      if (skipped > 0) skipped -= 1;
      else if (name === "t") isText = false;
      else if (name === "p") add(cells > 0 ? " " : "\n");
      else if (name === "tr") add("\n");
      else if (name === "tc") {
        cells -= 1;
        add("\t");
      }
    },
    text(text: string): void {
      if (isText && skipped === 0) add(text);
    },
    value: (): string => parts.join(""),
  };
};

const tidy = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.replaceAll(" \t", "\t").trimEnd())
    .join("\n")
    .trim();

const BODY = "word/document.xml";

/** The other parts with text, by the name that answers give them. */
const OTHERS = [
  ["headers and footers", /^word\/(?:header|footer)\d*\.xml$/],
  ["notes", /^word\/(?:footnotes|endnotes)\.xml$/],
  ["comments", /^word\/comments\.xml$/],
] as const;

const readEntries = async (archive: Archive, entries: readonly Entry[]): Promise<string> => {
  const texts: string[] = [];
  for (const entry of entries) {
    const writer = createWriter();
    await parseXml(archive.pieces(entry), writer);
    const text = tidy(writer.value());
    if (text !== "" && !texts.includes(text)) texts.push(text);
  }
  return texts.join("\n");
};

/** Reads the text of a Word document. @throws {Unreadable} */
export const readDocx = async (bytes: Uint8Array): Promise<Content> => {
  const archive = await openArchive(bytes);
  checkUnpacking(archive.entries);
  const body = archive.entries.filter(({ fileName }) => fileName === BODY);
  if (body.length !== 1) throw new Unreadable("The file is no Word document.");
  const parts = [{ name: "body", text: await readEntries(archive, body) }];
  for (const [name, pattern] of OTHERS) {
    const entries = archive.entries.filter(({ fileName }) => pattern.test(fileName));
    const text = await readEntries(archive, entries);
    if (text !== "") parts.push({ name, text });
  }
  return toParts(parts);
};
