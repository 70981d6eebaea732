import { deflateSync } from "node:zlib";
import { writeXlsx } from "hucre";
import PDFDocument from "pdfkit";
import { PNG } from "pngjs";
import { ZipFile } from "yazl";
import { buffer } from "node:stream/consumers";

/** A PDF whose pages `draw` fills. */
export const pdfOf = async (
  draw: (document: PDFKit.PDFDocument) => void,
  options: PDFKit.PDFDocumentOptions = {},
): Promise<Buffer> => {
  const document = new PDFDocument({ size: "A4", ...options });
  const whole = buffer(document);
  draw(document);
  document.end();
  return whole;
};

/** A PDF with a text on each page. */
export const pdfWithPages = (pages: readonly string[]): Promise<Buffer> =>
  pdfOf((document) => {
    for (const [index, text] of pages.entries()) {
      if (index > 0) document.addPage();
      document.text(text);
    }
  });

/** A picture with stripes. */
export const png = (width = 200, height = 100): Buffer => {
  const image = new PNG({ width, height });
  for (let at = 0; at < image.data.length; at += 4) {
    image.data.fill((at / 4) % width < width / 2 ? 0x20 : 0xe0, at, at + 3);
    image.data[at + 3] = 0xff;
  }
  return PNG.sync.write(image);
};

/** A PDF whose pages are pictures, as a scanner makes them; some scanners stamp a text over each. */
export const scannedPdf = (pages: number, stamp = ""): Promise<Buffer> =>
  pdfOf((document) => {
    for (let page = 0; page < pages; page += 1) {
      if (page > 0) document.addPage();
      document.image(png(), 0, 0, { width: 595, height: 842 });
      if (stamp !== "") document.text(stamp, 20, 20);
    }
  });

/** A ZIP archive with these files. */
export const zipOf = (files: Readonly<Record<string, string | Uint8Array>>): Promise<Buffer> => {
  const archive = new ZipFile();
  for (const [name, content] of Object.entries(files)) {
    archive.addBuffer(Buffer.from(content as string), name, {
      mtime: new Date(2026, 0, 31),
      compressionLevel: 1,
    });
  }
  archive.end();
  return buffer(archive.outputStream as AsyncIterable<Uint8Array>);
};

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

/** A Word document with this body, and further parts. */
export const docxOf = (
  body: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Buffer> =>
  zipOf({
    "[Content_Types].xml": `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    "word/document.xml": `${XML}<w:document ${WORD}><w:body>${body}</w:body></w:document>`,
    ...more,
  });

export const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

export const tableOf = (rows: readonly (readonly string[])[]): string =>
  `<w:tbl>${rows
    .map((row) => `<w:tr>${row.map((cell) => `<w:tc>${paragraph(cell)}</w:tc>`).join("")}</w:tr>`)
    .join("")}</w:tbl>`;

export const xlsxOf = async (
  sheets: readonly { name: string; rows: (string | number | Date | boolean | null)[][] }[],
): Promise<Buffer> => Buffer.from(await writeXlsx({ sheets: [...sheets] }));

/** The bytes of a PDF with these objects, the first of which is its catalog. */
export const rawPdf = (objects: readonly (string | Buffer)[]): Buffer => {
  const parts: Buffer[] = [Buffer.from("%PDF-1.4\n")];
  const places: number[] = [];
  let length = parts[0]?.length ?? 0;
  for (const [index, object] of objects.entries()) {
    places.push(length);
    const part = Buffer.concat([
      Buffer.from(`${index + 1} 0 obj\n`),
      Buffer.from(object as string),
      Buffer.from("\nendobj\n"),
    ]);
    parts.push(part);
    length += part.length;
  }
  const table = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<</Size ${size}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
};

/** A compressed stream with these entries of its dictionary. */
export const streamOf = (content: Buffer, entries = ""): Buffer => {
  const packed = deflateSync(content, { level: 1 });
  return Buffer.concat([
    Buffer.from(`<<${entries}/Filter/FlateDecode/Length ${packed.length}>>\nstream\n`),
    packed,
    Buffer.from("\nendstream"),
  ]);
};

/** A PDF of one page with this content stream and further objects, which begin at number 6. */
export const pdfPage = (content: Buffer, resources = "", more: readonly Buffer[] = []): Buffer =>
  rawPdf([
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F 4 0 R>>${resources}>>/Contents 5 0 R>>`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    streamOf(content),
    ...more,
  ]);
