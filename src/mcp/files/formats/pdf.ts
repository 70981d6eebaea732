import type { Content, Section } from "../content.ts";
import { Unreadable } from "../port.ts";
import { drawPage, isBlank, isScan } from "./pdf-picture.ts";
import { copyIn, type Pdfium, readUtf16, startPdfium, withMemory } from "./pdfium.ts";

const NEEDS_PASSWORD = 4;
const MAX_PAGES = 100_000;
/** A page with more text is read up to here: 2 million characters. */
const MAX_CHARACTERS = 2_000_000;
/** Programs of scanners and fax machines write a line or two over the picture of a page. */
const MAX_STAMP = 300;
const MAX_ANNOTATIONS = 2000;
const MAX_VALUE_UNITS = 10_000;

type Opened = { document: number; close(): void };

const open = (pdfium: Pdfium, bytes: Uint8Array): Opened => {
  const address = copyIn(pdfium, bytes);
  const document = pdfium.FPDF_LoadMemDocument(address, bytes.byteLength, "");
  const free = (): void => pdfium.pdfium.wasmExports.free(address);
  if (document !== 0) {
    const close = (): void => {
      pdfium.FPDF_CloseDocument(document);
      free();
    };
    return { document, close };
  }
  free();
  const isLocked = pdfium.FPDF_GetLastError() === NEEDS_PASSWORD;
  throw new Unreadable(
    isLocked
      ? "The PDF is encrypted and needs a password."
      : "The file is damaged, or it is no PDF.",
  );
};

const textOf = (pdfium: Pdfium, page: number): string => {
  const text = pdfium.FPDFText_LoadPage(page);
  if (text === 0) return "";
  try {
    const count = Math.min(MAX_CHARACTERS, Math.max(0, pdfium.FPDFText_CountChars(text)));
    // A character can be two units, and a zero follows the last one.
    return withMemory(pdfium, (count + 1) * 4, (address) => {
      const written = pdfium.FPDFText_GetText(text, 0, count, address);
      return readUtf16(pdfium, address, Math.max(0, written - 1));
    });
  } finally {
    pdfium.FPDFText_ClosePage(text);
  }
};

/** A text of an annotation, such as its contents or the value of a form's field. */
const valueOf = (pdfium: Pdfium, annotation: number, key: string): string => {
  const bytes = pdfium.FPDFAnnot_GetStringValue(annotation, key, 0, 0);
  if (bytes <= 2 || bytes > MAX_VALUE_UNITS * 2) return "";
  return withMemory(pdfium, bytes, (address) => {
    pdfium.FPDFAnnot_GetStringValue(annotation, key, address, bytes);
    return readUtf16(pdfium, address, bytes / 2 - 1);
  });
};

/** The values of a page's form fields, and its comments, which are no part of its text. */
const annotationsOf = (pdfium: Pdfium, page: number): string[] => {
  const count = Math.min(MAX_ANNOTATIONS, pdfium.FPDFPage_GetAnnotCount(page));
  const lines: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const annotation = pdfium.FPDFPage_GetAnnot(page, index);
    if (annotation === 0) continue;
    const value = valueOf(pdfium, annotation, "V");
    const name = value === "" ? "" : valueOf(pdfium, annotation, "T");
    const contents = valueOf(pdfium, annotation, "Contents");
    if (value !== "") lines.push(name === "" ? value : `${name}: ${value}`);
    if (contents !== "") lines.push(contents);
    pdfium.FPDFPage_CloseAnnot(annotation);
  }
  return lines;
};

const isNothing = (text: string): boolean => !/[^\s\ufffe\uffff]/.test(text);

/** Opens a PDF with PDFium, which runs in memory of its own, and reads its pages. @throws {Unreadable} */
export const readPdf = async (bytes: Uint8Array): Promise<Content> => {
  const pdfium = await startPdfium();
  const { document, close } = open(pdfium, bytes);
  const total = Math.min(MAX_PAGES, pdfium.FPDF_GetPageCount(document));

  const withPage = <T>(number: number, use: (page: number) => T): T => {
    const page = pdfium.FPDF_LoadPage(document, number - 1);
    if (page === 0) throw new Unreadable(`Page ${number} is damaged.`);
    try {
      return use(page);
    } finally {
      pdfium.FPDF_ClosePage(page);
    }
  };

  const readPage = (number: number): Section =>
    withPage(number, (page) => {
      const name = String(number);
      const lines = [textOf(pdfium, page), ...annotationsOf(pdfium, page)];
      const text = lines.filter((line) => !isNothing(line)).join("\n");
      const draw = async () => withPage(number, (again) => drawPage(pdfium, again, number));
      if (text !== "") {
        const isStamped = text.length <= MAX_STAMP && isScan(pdfium, page);
        return isStamped ? { name, text, draw } : { name, text };
      }
      return isBlank(pdfium, page) ? { name } : { name, draw };
    });

  return { unit: "page", total, read: async (section) => readPage(section), close };
};
