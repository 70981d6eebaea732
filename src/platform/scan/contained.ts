import { fileTypeFromBuffer } from "file-type";
import type { Bytes } from "../../kit/bytes.ts";
import { checkVisible, findContainedType, findProgramKind, isWebPageName } from "./names.ts";
import { mismatch, type ScanContext } from "./scan-context.ts";
import {
  detectActivePage,
  detectCompoundParts,
  detectMalware,
  detectPrograms,
  detectScripts,
  runDetectors,
} from "./signatures.ts";

const HEAD_BYTES = 4096;
const MARKUP = /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s{0,1000}<(?:[a-z!?])/i;
const PAGE = /<(?:html|head|body|script|iframe|!doctype html)[\s>/]/i;
const PICTURE = /<(?:svg|!doctype svg)[\s>/]/i;
const SCRIPT = /^(?:\xef\xbb\xbf)?\s{0,100}(?:#!|<\?php|@echo off)/i;
const RTF = /^\s{0,100}\{\\rt/;

/** Refuses names under which a program would run or hide. @throws {Refusal} */
export const checkContainedName = (name: string): void => {
  checkVisible(name);
  const kind = findProgramKind(name);
  if (kind !== undefined) throw mismatch(`Programs and scripts (${kind}) are not accepted.`);
};

/** Creates the refusal of a web page that comes with an e-mail. */
export const createPageRefusal = () =>
  mismatch("A web page (HTML) as an attachment is not accepted: it can run scripts.");

/** Checks a file of a type that is not allowed as an upload itself. */
const checkOther = async (names: readonly string[], bytes: Bytes, nest: ScanContext) => {
  const head = await bytes.read(0, HEAD_BYTES);
  const text = head.toString("latin1").replaceAll("\0", "");
  if (SCRIPT.test(text)) throw mismatch("The file is a script.");
  const mime = (await fileTypeFromBuffer(head))?.mime ?? "";
  if (mime === "application/pdf") return nest.inspect(".pdf", bytes, nest);
  if (RTF.test(text)) return nest.inspect(".rtf", bytes, nest);
  if (names.length === 0 && /^(?:image|video)\//.test(mime)) return;
  const isPage = names.some(isWebPageName) || (MARKUP.test(text) && PAGE.test(text));
  if (isPage && nest.depth.mails > 0) throw createPageRefusal();
  if (isPage || PICTURE.test(text)) await runDetectors(bytes.pieces(), [detectActivePage]);
  else if (MARKUP.test(text)) await runDetectors(bytes.pieces(), [detectScripts]);
  else if (mime === "application/x-cfb") await runDetectors(bytes.pieces(), [detectCompoundParts]);
  else if (text.startsWith("PK")) await nest.inspect(".zip", bytes, nest);
  nest.warn("OTHER_FILE_TYPE", "files of this type are checked for programs and scripts only.");
};

/**
 * Checks a file inside an archive, an e-mail or a PDF, under each of the names that programs may save it by.
 *
 * @throws {Refusal} for programs, for dangerous contents, and when the contents are not of the claimed type
 */
export const checkContained = async (
  names: readonly string[],
  bytes: Bytes,
  nest: ScanContext,
): Promise<void> => {
  for (const name of names) checkContainedName(name);
  if (bytes.size === 0) return;
  const types = new Set(names.flatMap((name) => findContainedType(name) ?? []));
  for (const type of types) await nest.inspect(type, bytes, nest);
  if (types.size > 0) return;
  await runDetectors(bytes.pieces(), [detectMalware, detectPrograms]);
  await checkOther(names, bytes, nest);
};
