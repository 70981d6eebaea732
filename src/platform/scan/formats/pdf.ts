import * as lib from "@cantoo/pdf-lib";
import { fileTypeFromBuffer } from "file-type";
import { fromBuffer } from "../../../kit/bytes.ts";
import { key, readPdfObjects, toList, unpack } from "../../formats/pdf-objects.ts";
import { checkContained, checkContainedName } from "../contained.ts";
import { checkLink, isLocalDocument, isSecureWebLink } from "../links.ts";
import { checkPart, type Format, MIB, mismatch, parseOrRefuse } from "../scan-context.ts";
import type { ScanContext } from "../scan-context.ts";
import { type Detector, detectMalware, detectMarkup, detectPrograms } from "../signatures.ts";

const MAX_STREAM_BYTES = 64 * MIB;
type Value = lib.PDFObject | undefined;

const toText = (value: Value): string | undefined => {
  if (!(value instanceof lib.PDFString || value instanceof lib.PDFHexString)) return undefined;
  try {
    return value.decodeText();
  } catch {
    return Buffer.from(value.asBytes()).toString("latin1");
  }
};
const toWord = (value: Value): string => (value instanceof lib.PDFName ? value.decodeText() : "");
const toContent = (value: Value): string | undefined =>
  value instanceof lib.PDFRawStream ? unpack(value)?.toString("latin1") : toText(value);

/** Returns the values of a dictionary, or none. */
const valuesOf = (value: Value): Value[] =>
  value instanceof lib.PDFDict ? value.keys().map((name) => value.lookup(name)) : [];

/** Returns the names of a file specification, which can be a string. */
const namesOf = (value: Value): string[] =>
  (value instanceof lib.PDFDict
    ? ["F", "UF", "DOS", "Mac", "Unix"].map((name) => value.lookup(key(name)))
    : [value]
  ).flatMap((name) => toText(name) ?? []);

/** Returns what is dangerous about a value. A missing value is one that cannot be found. */
type Find = (
  value: Value,
  dict: lib.PDFDict,
  nest: ScanContext,
  isStream: boolean,
) => string | undefined;

const MEDIA = "media that can run programs";
const SENDING = "a form that sends or imports data";
const ACTIONS: Readonly<Record<string, string>> = {
  Launch: "an action that starts a program or opens a file (Launch)",
  SubmitForm: SENDING,
  ImportData: SENDING,
  Movie: MEDIA,
  RichMedia: MEDIA,
  RichMediaExecute: MEDIA,
};
// Manuals in several volumes link to one another.
const BESIDE = /^[^\\/:%]{1,100}\.pdf$/i;
const DYNAMIC_FORM =
  /<(?:[\w-]{1,20}:)?(?:script|event|submit|execute|connect)[\s>/]|dynamicRender\s{0,9}>\s{0,9}required/;

const findLink: Find = (value, _dict, nest) => {
  const target = toText(value);
  if (target !== undefined) checkLink(target, nest);
  return value instanceof lib.PDFDict || target !== undefined ? undefined : "a link to nowhere";
};

/** Finds links to local files that are followed without a click. */
const findOpening: Find = (value) => {
  const opens = (action: Value): boolean =>
    action instanceof lib.PDFDict &&
    ["URI", "F"].some((name) => namesOf(action.lookup(key(name))).some(isLocalDocument));
  const isOpened = [value, ...valuesOf(value)].some(opens);
  return isOpened ? "an action that opens a local file by itself" : undefined;
};

const findAction: Find = (value, dict, { warn }) => {
  const action = toWord(value);
  // Elements of a page's logical structure (with K) have their kind under the same key.
  if (Object.hasOwn(ACTIONS, action) && !dict.has(key("K"))) return ACTIONS[action];
  if (!["GoToR", "GoToE", "Thread"].includes(action)) return undefined;
  const names = namesOf(dict.lookup(key("F")));
  const isInside = action !== "GoToE" && !dict.has(key("F"));
  if (isInside || (names.length > 0 && names.every(isSecureWebLink))) return undefined;
  if (action === "GoToR" && names.length > 0 && names.every((name) => BESIDE.test(name))) {
    warn("EXTERNAL_LINK", `a link leads to another PDF beside the file, ${names[0]}.`);
    return undefined;
  }
  return `an action that opens another file (${action}) ${names[0]?.slice(0, 100) ?? ""}`;
};

/** By key of a dictionary. */
const DANGERS: Readonly<Record<string, Find>> = {
  JS: (value) => (toContent(value)?.trim() === "" ? undefined : "a script (JavaScript)"),
  S: findAction,
  Subtype: findAction,
  URI: findLink,
  Base: (value, ...more) => (toText(value) === undefined ? undefined : findLink(value, ...more)),
  OpenAction: findOpening,
  AA: findOpening,
  F: (_value, _dict, _nest, isStream) =>
    isStream ? "a stream that lies in another file" : undefined,
  Ref: (value) =>
    value instanceof lib.PDFDict && value.has(key("F")) ? "content of another file" : undefined,
  NeedsRendering: (value) => (value?.toString() === "true" ? "a dynamic form (XFA)" : undefined),
  XFA: (value) =>
    DYNAMIC_FORM.test(toList(value).map(toContent).join(""))
      ? "a form with scripts (XFA)"
      : undefined,
  OnInstantiate: () => "a 3D scene with a script",
  RichMediaContent: () => MEDIA,
};

// The library has one object for each name.
const FINDS = new Map(Object.entries(DANGERS).map(([name, find]) => [key(name), find]));

/** An attached file: its names and its stream. */
type Attached = { names: string[]; stream: lib.PDFRawStream | undefined };

/** Returns the files that a file specification embeds (EF), and those related to them (RF). */
const readAttached = (dict: lib.PDFDict): Attached[] =>
  ["EF", "RF"]
    .flatMap((name) => valuesOf(dict.lookup(key(name))).map(toList))
    .flatMap((list) =>
      list.flatMap((stream, at) => {
        if (stream !== undefined && !(stream instanceof lib.PDFRawStream)) return [];
        return [{ names: namesOf(list.length > 1 ? list[at - 1] : dict), stream }];
      }),
    );

/** Checks an object and those in it, without following references. Returns the attached files. @throws {Refusal} */
const checkObject = (object: lib.PDFObject, nest: ScanContext): Attached[] => {
  const attached: Attached[] = [];
  const waiting: lib.PDFObject[] = [object];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const value = next instanceof lib.PDFStream ? next.dict : next;
    if (value instanceof lib.PDFArray) for (const inner of value.asArray()) waiting.push(inner);
    if (!(value instanceof lib.PDFDict)) continue;
    for (const [name, inner] of value.entries()) {
      const danger = FINDS.get(name)?.(value.lookup(name), value, nest, next !== value);
      if (danger !== undefined) {
        throw mismatch(`The PDF has ${danger}. Print it to a new PDF, and attach that one.`);
      }
      waiting.push(inner);
    }
    attached.push(...readAttached(value));
  }
  return attached;
};

const isEmbedded = (object: lib.PDFObject): object is lib.PDFRawStream =>
  object instanceof lib.PDFRawStream && toWord(object.dict.lookup(key("Type"))) === "EmbeddedFile";

const checkAttached = ({ names, stream }: Attached, nest: ScanContext): Promise<void> =>
  checkPart(names[0] ?? "an attached file", nest, async (inner) => {
    for (const name of names) checkContainedName(name);
    const bytes = stream && unpack(stream);
    if (stream === undefined) return;
    if (bytes === undefined) throw mismatch("The file is packed in a way that cannot be read.");
    inner.budget.part();
    inner.budget.bytes(bytes.byteLength);
    const depth = { ...inner.depth, archives: inner.depth.archives + 1 };
    // The XML of an electronic invoice (Factur-X, ZUGFeRD) is what PDFs are meant to hold.
    const warn = names.every((name) => /\.xml$/i.test(name)) ? () => {} : inner.warn;
    await checkContained(names, fromBuffer(bytes), { ...inner, depth, warn });
  });

/** Looks for malware and programs in the streams that are no pictures, up to a limit. */
const scanStreams = (objects: readonly lib.PDFObject[]): void => {
  let left = MAX_STREAM_BYTES;
  for (const object of objects) {
    if (!(object instanceof lib.PDFRawStream) || left <= 0) continue;
    if (toWord(object.dict.lookup(key("Subtype"))) === "Image") continue;
    const text = unpack(object)?.toString("latin1") ?? "";
    left -= text.length;
    detectMalware(text);
    detectPrograms(text);
  }
};

const HIDDEN =
  /\/S[\0\s]{0,9}\/(?:Launch|SubmitForm|ImportData|GoToE|JavaScript(?![\0\s]{0,9}\/JS[\0\s]{0,9}\(\s{0,9}\)))(?![\w#])|\/URI[\0\s]{0,9}\([\0\s]{0,9}((?:file|javascript|smb|\\\\|\/\/)[^()\\]{0,200})/gi;

/** Detects actions in the plain bytes, where a parser passes over them: in strings, comments and damaged objects. */
export const detectHiddenActions: Detector = (text) => {
  const plain = text.replaceAll(/#([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  );
  for (const [found, target] of plain.matchAll(HIDDEN)) {
    if (target !== undefined && isLocalDocument(target)) continue;
    throw mismatch(`The PDF has an action that is refused: ${found.trim()}.`);
  }
};

const HEAD_BYTES = 1024;

const checkBeginning = async (head: Buffer): Promise<void> => {
  const at = head.indexOf("%PDF-");
  const type = at > 0 ? await fileTypeFromBuffer(head) : undefined;
  if (at < 0 || (type !== undefined && type.mime !== "application/pdf")) {
    throw mismatch(`The contents (${type?.mime ?? "no %PDF-"}) do not match the extension .pdf.`);
  }
  detectMarkup(head.toString("latin1"));
};

/** Checks a PDF: no scripts, actions that lead out, dynamic forms, media, or dangerous attached files. */
export const checkPdf: Format = async (bytes, nest) => {
  await checkBeginning(await bytes.read(0, HEAD_BYTES));
  const data = await bytes.read(0, bytes.size);
  const tail = data.subarray(-HEAD_BYTES).toString("latin1");
  detectMarkup(tail);
  const { objects, isEncrypted } = await parseOrRefuse("The PDF cannot be read.", () =>
    readPdfObjects(data),
  );
  if (objects.length === 0) throw mismatch("The contents do not match .pdf: it has no objects.");
  const attached = objects.flatMap((object) => checkObject(object, nest));
  const named = new Set(attached.map(({ stream }) => stream));
  const unnamed = objects.filter(isEmbedded).filter((stream) => !named.has(stream));
  const files = [...attached, ...unnamed.map((stream) => ({ names: [], stream }))];
  for (const file of files) await checkAttached(file, nest);
  scanStreams(objects);
  if (isEncrypted) nest.warn("RESTRICTED_FILE", "the PDF restricts printing, copying or changes.");
  const isDamaged = objects.some((object) => object instanceof lib.PDFInvalidObject);
  if ((isDamaged && !isEncrypted) || !tail.includes("%%EOF")) {
    nest.warn("DAMAGED_FILE", "the PDF is damaged or cut off.");
  }
};
