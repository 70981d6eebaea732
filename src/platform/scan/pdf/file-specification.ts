import { createAttachedRefusal } from "./names.ts";
import type { Dictionary, PdfString, Value } from "./values.ts";
import { checkXmlName } from "./xml-invoice.ts";

const NAME_KEYS = ["/F", "/UF", "/DOS", "/Mac", "/Unix"];

const isString = (value: Value): value is PdfString =>
  typeof value === "object" && value !== null && "to" in value;

const ESCAPED = /\\([0-7]{1,3}|[^])/g;

const unescape = (text: string): string =>
  text.replaceAll(ESCAPED, (_, code: string) =>
    /^[0-7]/.test(code) ? String.fromCharCode(parseInt(code, 8) & 0xff) : code,
  );

/** Decodes a string in PDFDocEncoding, whose ASCII part is that of Latin-1, or in UTF-16. */
const decodeString = (bytes: Buffer, { from, to }: PdfString): string => {
  const inner = bytes.subarray(from + 1, to - 1);
  const isHex = bytes[from] !== 0x28;
  const text = inner.toString("latin1");
  const decoded = isHex
    ? Buffer.from(text.replaceAll(/\s/g, ""), "hex").toString("latin1")
    : unescape(text);
  if (!decoded.startsWith("\xfe\xff")) return decoded;
  return new TextDecoder("utf-16be").decode(Buffer.from(decoded.slice(2), "latin1"));
};

/**
 * Reads the dictionary of an attached file (ISO 32000-1, 7.11.3). Returns the numbers of the objects that hold it.
 *
 * @throws {Refusal} unless each of its names is that of an XML file
 */
export const readFileSpecification = (dictionary: Dictionary, bytes: Buffer): number[] => {
  const names = NAME_KEYS.flatMap((key) => dictionary.get(key) ?? []);
  if (names.length === 0) throw createAttachedRefusal();
  for (const name of names) {
    if (!isString(name)) throw createAttachedRefusal();
    checkXmlName(decodeString(bytes, name));
  }
  const files = dictionary.get("/EF");
  if (!(files instanceof Map) || files.size === 0) throw createAttachedRefusal();
  return [...files.values()].map((file) => {
    if (typeof file !== "object" || file === null || !("ref" in file)) {
      throw createAttachedRefusal();
    }
    return file.ref;
  });
};
