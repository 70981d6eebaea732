import { SaxesParser } from "saxes";
import { eachPacked } from "../archive.ts";
import { type Bytes, spooled } from "../bytes.ts";
import { type Format, mismatch, type Nest, soundOr } from "../nest.ts";
import { claimedType } from "../outside.ts";
import { Refusal } from "../port.ts";
import { type Look, lookForMalware, lookForPrograms, lookThrough } from "../signatures.ts";

const CONTENT_TYPES = "[Content_Types].xml";
const MAX_XML_BYTES = 4 * 1024 * 1024;

// Whatever a part is called, these types make it run, and an office program trusts nothing else.
const RUNS = /macro|vbaproject|activex|ms-office\.vba/i;
const MACRO_PART = /vbaProject|vbaData|macrosheets\//i;
const REMOTE = /^\s*(?:https?|ftp|mhtml|ms-[a-z]+|search-ms):|^\s*[\\/]{2}/i;
// What these relationships name is loaded without a question; before it follows a workbook's links, Excel asks.
const LOADED = /\/(?:attachedTemplate|oleObject|frame|subDocument)$/i;
const EMBEDDED_OFFICE = /\.(?:docx|xlsx)$/i;

// Two archives around it, and one more file of its kind embedded in it.
const MAX_DEPTH = 4;

const textOf = async (pieces: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.byteLength;
    if (size > MAX_XML_BYTES)
      throw mismatch("The Office file is unlike any that a program writes.");
    chunks.push(piece);
  }
  const whole = Buffer.concat(chunks);
  const wide = { 0xfffe: "utf-16le", 0xfeff: "utf-16be" }[
    whole.byteLength > 1 ? whole.readUInt16BE(0) : 0
  ];
  const text = new TextDecoder(wide ?? "utf-8", { fatal: true }).decode(whole);
  if (text.includes("<!DOCTYPE"))
    throw mismatch("The Office file is unlike any that a program writes.");
  return text;
};

type Tag = { name: string; attributes: Record<string, string> };

const tagsIn = (text: string): Tag[] => {
  const tags: Tag[] = [];
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name, attributes }) => {
    tags.push({ name: name.replace(/^.*:/, ""), attributes });
  });
  parser.write(text).close();
  return tags;
};

const checkContentTypes = (tags: Tag[], main: string): void => {
  const types = tags.flatMap(({ attributes }) => attributes["ContentType"] ?? []);
  if (types.some((type) => RUNS.test(type))) {
    throw mismatch("The Office file holds macros. Save it without them, and attach that.");
  }
  if (!types.includes(main)) throw mismatch("The file's contents are not what its name says.");
};

const checkRelationships = (tags: Tag[]): void => {
  const loads = tags.some(
    ({ attributes: { Type = "", Target = "", TargetMode = "" } }) =>
      TargetMode.trim().toLowerCase() === "external" &&
      LOADED.test(Type.trim()) &&
      REMOTE.test(Target),
  );
  if (loads) throw mismatch("The Office file loads parts of it from elsewhere.");
};

type Part = { name: string; pieces(): AsyncGenerator<Buffer> };

const inspectPart = async ({ name, pieces }: Part, main: string, nest: Nest): Promise<void> => {
  if (MACRO_PART.test(name)) {
    throw mismatch("The Office file holds macros. Save it without them, and attach that.");
  }
  if (name === CONTENT_TYPES) {
    checkContentTypes(tagsIn(await textOf(pieces())), main);
  } else if (/\.rels$/i.test(name)) {
    checkRelationships(tagsIn(await textOf(pieces())));
  } else if (EMBEDDED_OFFICE.test(name)) {
    await spooled(pieces(), (bytes) => nest.inspect(claimedType(name), bytes, nest));
    return;
  }
  await lookThrough(pieces(), [lookForMalware, lookForPrograms]);
};

const ZIP = Buffer.from("PK\x03\x04");
const COMPOUND = Buffer.from("d0cf11e0a1b11ae1", "hex");
const ENCRYPTED = Buffer.from("EncryptedPackage", "utf16le").toString("latin1");

/** With a password set, an Office file is no archive any more but holds an encrypted one. */
const checkBeginning = async (bytes: Bytes): Promise<void> => {
  const head = await bytes.read(0, COMPOUND.byteLength);
  if (head.subarray(0, ZIP.byteLength).equals(ZIP)) return;
  const lookForEncrypted: Look = (text) => {
    if (!text.includes(ENCRYPTED)) return;
    throw new Refusal(
      "ENCRYPTED_ARCHIVE",
      "The Office file is encrypted, so that nobody can look into it.",
    );
  };
  if (head.equals(COMPOUND)) await lookThrough(bytes.pieces(), [lookForEncrypted]);
  throw mismatch("The file's contents are not what its name says.");
};

/** An Office file is an archive of parts, one of which tells of what type each is. */
const checkOffice =
  (main: string): Format =>
  async (bytes, nest) => {
    await checkBeginning(bytes);
    const inner = { ...nest, archives: nest.archives + 1 };
    if (inner.archives > MAX_DEPTH) throw mismatch("The Office file holds others too deep in it.");
    let hasTypes = false;
    await soundOr("The Office file is broken.", () =>
      eachPacked(bytes, nest, async (packed) => {
        hasTypes ||= packed.name === CONTENT_TYPES;
        await inspectPart(packed, main, inner);
      }),
    );
    if (!hasTypes) throw mismatch("The file's contents are not what its name says.");
  };

const OPEN_XML = "application/vnd.openxmlformats-officedocument";

export const checkDocx = checkOffice(`${OPEN_XML}.wordprocessingml.document.main+xml`);
export const checkXlsx = checkOffice(`${OPEN_XML}.spreadsheetml.sheet.main+xml`);
