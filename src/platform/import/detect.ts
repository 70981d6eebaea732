import { describeSet } from "./bank/x12-sets.ts";
import type { Format } from "./formats.ts";

/** The kind of a file by its content; `foreign` names a kind that is not imported. */
export type Content = "zip" | Format | { foreign: string };

/** Number of bytes from the start of a file that {@link detectContent} needs at most. */
export const DETECTION_BYTES = 64 * 1024;

const foreign = (name: string): Content => ({ foreign: name });

// The first bytes of files that are no text.
const SIGNATURES: readonly (readonly [bytes: string, name: string])[] = [
  ["%PDF-", "a PDF"],
  ["\u00D0\u00CF\u0011\u00E0", "an old binary Office file (.xls or .doc); save it as .xlsx"],
  ["\u0089PNG", "a PNG image"],
  ["\u00FF\u00D8\u00FF", "a JPEG image"],
  ["GIF8", "a GIF image"],
  ["II*\u0000", "a TIFF image"],
  ["MM\u0000*", "a TIFF image"],
  ["\u001F\u008B", "a gzip archive; unpack it first"],
  ["BZh", "a bzip2 archive; unpack it first"],
  ["7z\u00BC\u00AF", "a 7-Zip archive; unpack it first"],
  ["Rar!", "a RAR archive; unpack it first"],
  ["{\\rtf", "an RTF document"],
  ["\u00FF\u00FE\u0000\u0000", "a text in UTF-32; save it as UTF-8"],
  ["\u0000\u0000\u00FE\u00FF", "a text in UTF-32; save it as UTF-8"],
];

const detectZip = (latin: string): Content => {
  if (latin.includes("word/")) return foreign("a Word document (DOCX)");
  if (latin.includes("ppt/")) return foreign("a presentation (PPTX)");
  if (latin.includes("application/vnd.oasis.opendocument"))
    return foreign("an OpenDocument file; save it as .xlsx or .csv");
  return latin.includes("[Content_Types].xml") || latin.includes("xl/") ? "xlsx" : "zip";
};

const ISO_MESSAGES: ReadonlyMap<string, string> = new Map([
  ["pain.001", "customer credit transfer initiation"],
  ["pain.002", "payment status report"],
  ["pain.007", "payment reversal"],
  ["pain.008", "customer direct debit initiation"],
  ["pacs.002", "payment status report between banks"],
  ["pacs.003", "direct debit between banks"],
  ["pacs.004", "payment return between banks"],
  ["pacs.008", "credit transfer between banks"],
  ["camt.029", "resolution of an investigation"],
  ["camt.056", "payment cancellation request"],
  ["camt.060", "account reporting request"],
  ["camt.086", "bank services billing"],
  ["remt.001", "remittance advice"],
]);

const CAMT = /\bcamt\.05[234]\b|<(?:\w{1,30}:)?BkToCstmr(?:Stmt|AcctRpt|DbtCdtNtfctn)\b/;
const ISO_MESSAGE = /\b((?:pain|pacs|camt|acmt|remt)\.(?!001\.)\d{3}|(?:pain|acmt|remt)\.001)\b/;
const ROOT = /<(?:[\w.-]{1,60}:)?([A-Za-z_][\w.-]{0,100})[\s/>]/;
const WRAPPERS: ReadonlySet<string> = new Set(["Envelope", "BizMsgEnvlp", "Saxess", "Document"]);

const detectXml = (text: string): Content => {
  if (CAMT.test(text)) return "camt";
  const message = ISO_MESSAGE.exec(text)?.[1];
  if (message !== undefined) {
    const name = ISO_MESSAGES.get(message);
    return foreign(`an ISO 20022 ${message}${name === undefined ? "" : ` (${name})`}`);
  }
  const root = ROOT.exec(text)?.[1] ?? "";
  if (/^html$/i.test(root) || /^<!doctype html/i.test(text)) return foreign("a web page (HTML)");
  if (root === "OFX") return foreign("an OFX file");
  if (WRAPPERS.has(root)) return "camt";
  return foreign(root === "" ? "an XML file" : `an XML file <${root}>`);
};

// The authorization qualifier, which every ISA begins with, tells it from a word of a text.
const ISA = /(?<![\p{L}\p{N}])ISA([^\p{L}\p{N}\s])\d{2}\1/u;
const MOST_SETS = 1000;

const detectX12 = (text: string, separator: string): Content => {
  let first = "";
  let at = text.indexOf(`ST${separator}`);
  for (let count = 0; at !== -1 && count < MOST_SETS; count += 1) {
    const before = text.charAt(at - 1);
    const type = text.slice(at + 3, at + 6);
    // Another segment can end with ST, for instance N1 with a name.
    if (!/[\p{L}\p{N}]/u.test(before) && before !== separator && /^\d{3}$/.test(type)) {
      if (type === "820") return "edi820";
      first ||= type;
    }
    at = text.indexOf(`ST${separator}`, at + 1);
  }
  return first === "" ? "edi820" : foreign(`an X12 ${describeSet(first)}`);
};

const EDIFACT = /^UN[AB][^A-Za-z0-9]/;
const EDIFACT_TYPE = /UNH\+[^+']{1,14}\+([A-Z]{6})/;

const detectEdifact = (text: string): Content => {
  const type = EDIFACT_TYPE.exec(text)?.[1];
  return foreign(type === undefined ? "an EDIFACT interchange" : `an EDIFACT ${type}`);
};

const SWIFT = /^\{1:[A-Z]\d{2}/;
const SWIFT_TYPE = /\{2:[IO](\d{3})/;
const MT942 = /^:(?:34F|13D|90[CD]):/m;

const detectSwift = (text: string): Content => {
  const type = SWIFT_TYPE.exec(text)?.[1] ?? (MT942.test(text) ? "942" : "940");
  return type === "940" ? "mt940" : foreign(`a SWIFT MT${type}`);
};

const BAI2 = /^01,[^,\n]{0,50},[^,\n]{0,50},\d{6},/;

const detectText = (text: string): Content => {
  const start = text.trimStart();
  if (start.startsWith("<")) return detectXml(start);
  if (BAI2.test(start)) return "bai2";
  const separator = ISA.exec(start)?.[1];
  if (separator !== undefined) return detectX12(start, separator);
  if (EDIFACT.test(start)) return detectEdifact(start);
  if (SWIFT.test(start) || (/^:20:/m.test(start) && /^:(?:25P?|60[FM]):/m.test(start)))
    return detectSwift(start);
  if (/^101 [\d ]{9}/.test(start)) return foreign("a NACHA file of ACH entries");
  if (start.startsWith("OFXHEADER")) return foreign("an OFX file");
  if (/^!Type:/i.test(start)) return foreign("a QIF file");
  if (start.startsWith("[")) return foreign("a JSON array; write one object per line (NDJSON)");
  return start.startsWith("{") ? "ndjson" : "csv";
};

/** Decodes the start of a text; undefined if it is no text. */
const decode = (head: Uint8Array, latin: string): string | undefined => {
  if (latin.startsWith("\u00FF\u00FE")) return new TextDecoder("utf-16le").decode(head);
  if (latin.startsWith("\u00FE\u00FF")) return new TextDecoder("utf-16be").decode(head);
  if (/^[^\0]\0[^\0]\0/.test(latin)) return new TextDecoder("utf-16le").decode(head);
  if (/^\0[^\0]\0[^\0]/.test(latin)) return new TextDecoder("utf-16be").decode(head);
  return latin.includes("\0") ? undefined : new TextDecoder().decode(head);
};

/** Tells the kind of a file by its first bytes, at most {@link DETECTION_BYTES}. */
export const detectContent = (head: Uint8Array): Content => {
  const bytes = head.subarray(0, DETECTION_BYTES);
  const latin = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  if (latin.startsWith("PK\u0003\u0004") || latin.startsWith("PK\u0005\u0006"))
    return detectZip(latin);
  const signature = SIGNATURES.find(([start]) => latin.startsWith(start));
  if (signature !== undefined) return foreign(signature[1]);
  const text = decode(bytes, latin);
  return text === undefined ? foreign("a binary file") : detectText(text);
};
