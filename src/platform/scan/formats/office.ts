import { type Bytes, withSpooledFile } from "../../../kit/bytes.ts";
import { readXml, type XmlAttributes } from "../../formats/xml-stream.ts";
import type { ArchiveEntry } from "../../formats/zip.ts";
import { checkLink, isLocalPath } from "../links.ts";
import { findProgramKind } from "../names.ts";
import { checkPart, deepen, mismatch, parseOrRefuse, readArchive } from "../scan-context.ts";
import type { Format, ScanContext } from "../scan-context.ts";
import { detectCompoundParts, detectMalware, detectPrograms, runDetectors } from "../signatures.ts";
import { checkContent, INTEREST } from "./office-content.ts";

const CONTENT_TYPES = "[content_types].xml";
const ROOT_RELATIONSHIPS = "_rels/.rels";
const MAX_PACKAGES = 3;
const BROKEN = "The part is damaged, has a DOCTYPE or an unusual encoding. Save the file again.";
const COMPOUND = "\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1";
const PACKED = "PK\u0003\u0004";

/** Types of parts that run or load something. */
const ACTIVE_TYPE =
  /vba|macro|activex|oleobject|dialogsheet|attachedtoolbars|extensibility|msdownload|html|rfc822|rtf$/i;
const ACTIVE_NAME = /(?:^|\/)(?:vbaProject|vbaData|macrosheets\/)/i;
const XML_TYPE = /(?:[+/]xml|vmldrawing)$/i;
const XML_NAME = /\.(?:xml|rels|vml)$/i;
/** Relationships to what runs something, or is shown as if it were part of the file, by the end of their type. */
const ACTIVE: readonly (readonly [kind: RegExp, what: string])[] = [
  [/^oleobject$/, "an embedded or linked object (OLE)"],
  [/^(?:control|activexcontrolbinary)$/, "an ActiveX control"],
  [/^(?:vbaproject|wordvbadata|xl(?:intl)?macrosheet)$/, "macros"],
  [/^(?:extensibility|usercustomization)$/, "buttons that run macros"],
  [/^(?:afchunk|subdocument)$/, "a part of another document"],
  [/^mailmerge(?:header)?source$/, "a data source of a mail merge"],
];
/** Workbooks ask before they follow these. */
const WORKBOOK = /^(?:xl)?(?:externallink(?:path|long)|pathmissing|startup|library)/;
const LEADS_OUT = /^\s*(?:[a-z][a-z0-9+.-]{1,63}:|[\\/]{2})/i;

/** Checks a relationship. Returns its target if it is the main part. @throws {Refusal} */
const checkRelationship = (
  { type = "", target = "", targetmode = "" }: XmlAttributes,
  nest: ScanContext,
): string[] => {
  const kind = type.trim().toLowerCase().replace(/^.*\//, "");
  const shown = target.slice(0, 100);
  const [, found] = ACTIVE.find(([active]) => active.test(kind)) ?? [];
  if (found !== undefined) throw mismatch(`The file holds ${found}. Save it as PDF.`);
  if (kind === "connections") nest.warn("EXTERNAL_LINK", "the workbook has data connections.");
  if (kind === "officedocument") return [target.trim().replace(/^\.?\//, "")];
  if (targetmode.trim().toLowerCase() !== "external" && !LEADS_OUT.test(target)) return [];
  if (kind === "hyperlink") checkLink(target, nest);
  else if (!WORKBOOK.test(kind) && !isLocalPath(target)) {
    throw mismatch(`A part (${kind}) is loaded from ${shown}.`);
  }
  // Word writes the path of the writer's template into every file.
  else if (kind !== "attachedtemplate") {
    nest.warn("EXTERNAL_LINK", `${kind} leads to ${shown}.`);
  }
  return [];
};

/** Checks one part. Returns the targets of its relationships to main parts. */
const checkEntry = async (
  { name, pieces, isReadable }: ArchiveEntry,
  type: string,
  nest: ScanContext,
): Promise<string[]> => {
  if (!isReadable) throw mismatch("The part is compressed in a way that Office does not read.");
  if (ACTIVE_NAME.test(name) || findProgramKind(name) !== undefined) {
    throw mismatch("The part holds macros or a program.");
  }
  if (ACTIVE_TYPE.test(type)) throw mismatch(`The part is ${type}: it can run or load something.`);
  let [head, isInteresting] = ["", false];
  const look = (text: string): void => {
    head ||= text.slice(0, 16);
    isInteresting ||= INTEREST.test(text);
  };
  await runDetectors(pieces(), [look, detectMalware, detectPrograms]);
  if (head.startsWith(COMPOUND)) throw mismatch("The part is an object or macros (OLE).");
  if (head.startsWith(PACKED)) {
    await withSpooledFile(pieces(), (bytes) => checkParts(bytes, nest));
  }
  const mains: string[] = [];
  if (/\.rels$/i.test(name)) {
    await readXml(pieces(), {
      open: (element, attributes) => {
        if (element === "relationship") mains.push(...checkRelationship(attributes, nest));
      },
    });
  } else if (isInteresting && (XML_NAME.test(name) || XML_TYPE.test(type))) {
    if (!type.startsWith("image/")) await checkContent(pieces(), nest);
  }
  return mains;
};

/** Reads `[Content_Types].xml`, and returns a function that finds the type of a part. */
const readTypes = async (entries: readonly ArchiveEntry[]) => {
  const types = new Map<string, string>();
  const [index, ...others] = entries.filter(({ name }) => name.toLowerCase() === CONTENT_TYPES);
  if (index === undefined || others.length > 0) throw mismatch("The contents are no Office file.");
  await readXml(index.pieces(), {
    open: (_name, { contenttype = "", extension, partname }) => {
      const key = partname ?? `.${extension}`;
      types.set(key.toLowerCase(), contenttype.trim().toLowerCase());
    },
  });
  return (name: string): string => {
    const part = `/${name.toLowerCase()}`;
    return types.get(part) ?? types.get(part.slice(part.lastIndexOf("."))) ?? "";
  };
};

/** Checks the parts of an Office file (Open Packaging Conventions), and returns the types of its main parts. */
export const checkParts = async (bytes: Bytes, outer: ScanContext): Promise<string[]> => {
  const nest = deepen(outer, "packages", MAX_PACKAGES);
  const entries = (await readArchive(bytes, nest, "package")).filter(({ isFolder }) => !isFolder);
  const findType = await parseOrRefuse(BROKEN, () => readTypes(entries));
  const mains: string[] = [];
  for (const entry of entries) {
    await checkPart(entry.name, nest, async (inner) => {
      const found = await parseOrRefuse(BROKEN, () =>
        checkEntry(entry, findType(entry.name), inner),
      );
      if (entry.name.toLowerCase() === ROOT_RELATIONSHIPS) mains.push(...found);
    });
  }
  return mains.map(findType);
};

/** Returns whether the entries of an archive are the parts of an Office file. */
export const isPackage = (entries: readonly ArchiveEntry[]): boolean =>
  entries.some(({ name }) => name.toLowerCase() === CONTENT_TYPES);

/** Creates the check of an Office file whose main part has this type. */
const checkOffice =
  (main: string, extension: string): Format =>
  async (bytes, nest) => {
    const head = (await bytes.read(0, COMPOUND.length)).toString("latin1");
    // With a password, an Office file is a compound file around an encrypted ZIP.
    if (head === COMPOUND) await runDetectors(bytes.pieces(), [detectCompoundParts]);
    const mains = head.startsWith(PACKED) ? await checkParts(bytes, nest) : [];
    if (mains.length === 0 || mains.some((type) => type !== main)) {
      throw mismatch(`The contents (${mains.join() || "unknown"}) do not match ${extension}.`);
    }
  };

const OPEN_XML = "application/vnd.openxmlformats-officedocument";

export const checkDocx = checkOffice(`${OPEN_XML}.wordprocessingml.document.main+xml`, ".docx");
export const checkXlsx = checkOffice(`${OPEN_XML}.spreadsheetml.sheet.main+xml`, ".xlsx");
