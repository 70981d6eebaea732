import { SaxesParser } from "saxes";
import { forEachEntry, type ArchiveEntry } from "../archive.ts";
import { type Bytes, findWideEncoding } from "../bytes.ts";
import { createTypeRefusal, type Format, mismatch, parseOrRefuse } from "../scan-context.ts";
import { Refusal } from "../port.ts";
import { type Detector, detectMalware, detectPrograms, runDetectors } from "../signatures.ts";
import {
  createActiveRefusal,
  type Attributes,
  checkContentType,
  checkDrawing,
  checkFields,
  checkRelationship,
} from "./office-parts.ts";

const CONTENT_TYPES = "[Content_Types].xml";
const MAX_FIELD_CODES = 1024 * 1024;

const createMalformedRefusal = () =>
  mismatch("The Office file has an unusual structure. Save it again, or as PDF.");

type Tag = (name: string, attributes: Attributes) => void;

/** Parses an XML part as a stream. `tag` receives local names, `text` the element's local name and its text. */
const readXml = async (
  pieces: AsyncIterable<Buffer>,
  tag: Tag,
  text: (name: string, content: string) => void = () => {},
): Promise<void> => {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  const open: string[] = [];
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("doctype", () => {
    throw createMalformedRefusal();
  });
  parser.on("opentag", ({ name, attributes }) => {
    const local = name.replace(/^.*:/, "");
    open.push(local);
    tag(local, attributes);
  });
  parser.on("text", (content) => text(open.at(-1) ?? "", content));
  parser.on("cdata", (content) => text(open.at(-1) ?? "", content));
  parser.on("closetag", () => open.pop());
  for await (const piece of pieces) {
    decoder ??= new TextDecoder(findWideEncoding(piece) ?? "utf-8", { fatal: true });
    parser.write(decoder.decode(piece, { stream: true }));
  }
  parser.write(decoder?.decode() ?? "").close();
};

/** The content types that `[Content_Types].xml` declares, by extension and by part. */
type Types = { byExtension: Map<string, string>; byPart: Map<string, string> };

const readTypes = async (pieces: AsyncIterable<Buffer>): Promise<Types> => {
  const types: Types = { byExtension: new Map(), byPart: new Map() };
  await readXml(pieces, (name, { ContentType = "", Extension, PartName }) => {
    if (name !== "Default" && name !== "Override") return;
    checkContentType(ContentType);
    if (Extension !== undefined) types.byExtension.set(Extension.toLowerCase(), ContentType);
    if (PartName !== undefined) types.byPart.set(PartName.toLowerCase(), ContentType);
  });
  return types;
};

const readDocument = async (pieces: AsyncIterable<Buffer>): Promise<void> => {
  let codes = "";
  await readXml(
    pieces,
    (name, attributes) => {
      checkDrawing(attributes);
      if (name === "fldChar" || name === "fldSimple") codes += "\n";
      if (name === "fldSimple")
        codes += attributes["w:instr"] ?? Object.values(attributes).join(" ");
      if (codes.length > MAX_FIELD_CODES) throw createMalformedRefusal();
    },
    (name, content) => {
      if (name === "instrText" || name === "delInstrText") codes += content;
    },
  );
  checkFields(codes);
};

const isXml = (name: string): boolean => /\.(?:xml|vml|rels)$/i.test(name);

const ACTIVE_PART =
  /vbaProject|vbaData|(?:^|\/)(?:macrosheets|embeddings|activeX|externalLinks|ctrlProps)\//i;

const inspectPart = async ({ name, isFolder, pieces }: ArchiveEntry): Promise<void> => {
  await runDetectors(pieces(), [detectMalware, detectPrograms]);
  if (ACTIVE_PART.test(name)) throw createActiveRefusal("macros or embedded objects");
  if (!isFolder && /\.rels$/i.test(name)) {
    await readXml(pieces(), (tag, attributes) => {
      if (tag === "Relationship") checkRelationship(attributes);
    });
  } else if (!isFolder && isXml(name)) await readDocument(pieces());
};

/** Refuses parts without a declared type, and a file in which not exactly one part has the main type. */
const checkParts = (parts: readonly string[], types: Types | undefined, main: string): void => {
  if (types === undefined) throw createTypeRefusal();
  const { byExtension, byPart } = types;
  const all = parts.map((part) => {
    const extension = part.slice(part.lastIndexOf(".") + 1).toLowerCase();
    const type = byPart.get(`/${part.toLowerCase()}`) ?? byExtension.get(extension);
    if (type === undefined) throw createMalformedRefusal();
    // Office programs follow the declared type, so a part declared as XML must be one that was checked as XML.
    if (/[+/]xml$/i.test(type.trim()) !== isXml(part) && !/vmlDrawing$/i.test(type.trim())) {
      throw createMalformedRefusal();
    }
    return type.trim().toLowerCase();
  });
  const mains = all.filter((type) => type.endsWith(".main+xml"));
  if (mains.length !== 1 || mains[0] !== main) {
    throw createTypeRefusal();
  }
};

const ZIP = Buffer.from("PK\x03\x04");
const COMPOUND = Buffer.from("d0cf11e0a1b11ae1", "hex");
const ENCRYPTED = Buffer.from("EncryptedPackage", "utf16le").toString("latin1");

/** Refuses files that are no ZIP. With a password, an Office file is a compound file around an encrypted ZIP. */
const checkBeginning = async (bytes: Bytes): Promise<void> => {
  const head = await bytes.read(0, COMPOUND.byteLength);
  if (head.subarray(0, ZIP.byteLength).equals(ZIP)) return;
  const lookForEncrypted: Detector = (text) => {
    if (!text.includes(ENCRYPTED)) return;
    throw new Refusal(
      "ENCRYPTED_ARCHIVE",
      "The Office file is encrypted. Save it without a password.",
    );
  };
  if (head.equals(COMPOUND)) await runDetectors(bytes.pieces(), [lookForEncrypted]);
  throw createTypeRefusal();
};

/** Creates the check of an Office file (Open Packaging Conventions): a ZIP whose index declares each part's type. */
const checkOffice =
  (main: string): Format =>
  async (bytes, nest) => {
    await checkBeginning(bytes);
    const parts: string[] = [];
    let types: Types | undefined;
    await parseOrRefuse("The Office file is broken.", () =>
      forEachEntry(bytes, nest, async (packed) => {
        if (packed.name === CONTENT_TYPES) types = await readTypes(packed.pieces());
        else if (!packed.isFolder) parts.push(packed.name);
        if (packed.name !== CONTENT_TYPES) await inspectPart(packed);
      }),
    );
    checkParts(parts, types, main);
  };

const OPEN_XML = "application/vnd.openxmlformats-officedocument";

export const checkDocx = checkOffice(`${OPEN_XML}.wordprocessingml.document.main+xml`);
export const checkXlsx = checkOffice(`${OPEN_XML}.spreadsheetml.sheet.main+xml`);
