import { collectText } from "./collect.ts";
import { type Content, toParts } from "./content.ts";
import { decodeText } from "./decode.ts";
import type { FileText, ReadableType, TextRequest } from "./port.ts";
import { Unreadable } from "./port.ts";

type Open = (bytes: Uint8Array<ArrayBuffer>) => Promise<Content>;

/** A library is loaded with the first file that needs it. */
const FORMATS: Record<ReadableType, Open> = {
  ".pdf": async (bytes) => (await import("./formats/pdf.ts")).readPdf(bytes),
  ".docx": async (bytes) => (await import("./formats/docx.ts")).readDocx(bytes),
  ".xlsx": async (bytes) => (await import("./formats/xlsx.ts")).readXlsx(bytes),
  ".zip": async (bytes) => (await import("./formats/zip.ts")).readZip(bytes),
  ".eml": async (bytes) => (await import("./formats/mail.ts")).readMail(bytes),
  ".rtf": async (bytes) => (await import("./formats/rtf.ts")).readRtf(bytes),
  ".html": async (bytes) => {
    const { readHtml } = await import("./formats/html.ts");
    return toParts([{ name: "text", text: readHtml(decodeText(bytes)) }]);
  },
  ".txt": async (bytes) => toParts([{ name: "text", text: decodeText(bytes) }]),
  ".csv": async (bytes) => toParts([{ name: "text", text: decodeText(bytes) }]),
};

/**
 * Reads a part of a file as text.
 *
 * @throws {Unreadable}
 */
export const readFileText = async (
  { type, bytes, ...bounds }: TextRequest,
  isLate: () => boolean,
): Promise<FileText> => {
  if (bytes.byteLength === 0) throw new Unreadable("The file is empty.");
  const content = await FORMATS[type](bytes);
  try {
    return await collectText(content, { ...bounds, isLate });
  } finally {
    content.close?.();
  }
};
