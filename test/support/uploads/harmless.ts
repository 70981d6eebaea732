import { deflateSync } from "node:zlib";
import { attached, code, disposed, note, part, related, sheet, simple } from "./dangers.ts";
import {
  docx,
  jpeg,
  mail,
  pdfStream,
  plainMail,
  rtf,
  text,
  uuencoded,
  wholePdf,
  xlsx,
} from "./samples.ts";
import { zip } from "./zip.ts";

const chart = `<Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/><Default Extension="odttf" ContentType="application/vnd.openxmlformats-officedocument.obfuscatedFont"/>`;
const invoice =
  '<?xml version="1.0"?><rsm:Invoice xmlns:rsm="urn:x"><ds:Object xmlns:ds="d"/></rsm:Invoice>';
const flate = (content: string): string => {
  const data = deflateSync(Buffer.from(content)).toString("latin1");
  return `<< /Length ${data.length} /Filter 6 0 R >>\nstream\n${data}\nendstream`;
};

/** Unusual but harmless files, with the codes of their warnings. */
export const harmless: readonly {
  title: string;
  fileName: string;
  bytes: Buffer;
  warnings: string[];
}[] = [
  {
    title: "a DOCX with a local template",
    fileName: "a.docx",
    bytes: docx([related("attachedTemplate", "file:///C:\\Users\\a\\Letter.dotx")]),
    warnings: [],
  },
  {
    title: "a DOCX with links",
    fileName: "a.docx",
    bytes: docx([
      related("hyperlink", "http://example.com/?a=b#c"),
      { name: "word/footer1.xml", data: code('HYPERLINK "https://example.com" \\o "Note: x"') },
    ]),
    warnings: [],
  },
  {
    title: "a DOCX with citations",
    fileName: "a.docx",
    bytes: part(code("ADDIN ZOTERO_ITEM CSL_CITATION {&quot;a&quot;:&quot;DDE&quot;}")),
    warnings: [],
  },
  {
    title: "a DOCX with a macro button and a merge field",
    fileName: "a.docx",
    bytes: part(simple("MACROBUTTON NoMacro [x]")),
    warnings: [],
  },
  {
    title: "a DOCX with declared types of parts that it lacks",
    fileName: "a.docx",
    bytes: docx([], chart),
    warnings: [],
  },
  {
    title: "a DOCX with a sensitivity label",
    fileName: "a.docx",
    bytes: docx([{ name: "docMetadata/LabelInfo.xml", data: "<clbl:labelList xmlns:clbl='c'/>" }]),
    warnings: [],
  },
  {
    title: "a DOCX with hidden text",
    fileName: "a.docx",
    bytes: part('<w:a xmlns:w="w"><w:vanish/></w:a>'),
    warnings: ["HIDDEN_TEXT"],
  },
  {
    title: "a DOCX with a picture of the web in a field",
    fileName: "a.docx",
    bytes: part(code('INCLUDEPICTURE "https://example.com/a.png" \\d')),
    warnings: ["EXTERNAL_LINK"],
  },
  {
    title: "a DOCX with a chart's workbook",
    fileName: "a.docx",
    bytes: docx([{ name: "word/embeddings/Microsoft_Excel_Sheet1.xlsx", data: xlsx() }]),
    warnings: [],
  },
  {
    title: "an XLSX with formulas",
    fileName: "a.xlsx",
    bytes: sheet("'P&amp;L | 2024'!A1&amp;\"a|b\""),
    warnings: [],
  },
  {
    title: "an XLSX with a formula of the network",
    fileName: "a.xlsx",
    bytes: sheet("_xlfn.WEBSERVICE(A1)"),
    warnings: ["NETWORK_FORMULA"],
  },
  {
    title: "an XLSX with a link to another workbook",
    fileName: "a.xlsx",
    bytes: xlsx([
      {
        ...related("externalLinkPath", "Prices%202026.xlsx"),
        name: "xl/externalLinks/_rels/externalLink1.xml.rels",
      },
    ]),
    warnings: ["EXTERNAL_LINK"],
  },
  {
    title: "an XLSX with a sensitivity label",
    fileName: "a.xlsx",
    bytes: xlsx([{ name: "docMetadata/LabelInfo.xml", data: "<clbl:labelList xmlns:clbl='c'/>" }]),
    warnings: [],
  },
  {
    title: "a strict DOCX",
    fileName: "a.docx",
    bytes: docx([
      {
        ...related("styles", "styles.xml", "", "Internal"),
        name: "word/_rels/document.xml.rels",
        data: '<Relationships xmlns="r"><Relationship Id="r1" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/hyperlink" TargetMode="External" Target="https://example.com"/></Relationships>',
      },
    ]),
    warnings: [],
  },
  {
    title: "an XLSX with a part of a spreadsheet service",
    fileName: "a.xlsx",
    bytes: xlsx([{ name: "xl/metadata", data: "x" }]),
    warnings: [],
  },
  {
    title: "an RTF with a table, hidden text and a picture",
    fileName: "a.rtf",
    bytes: rtf("{\\*\\nesttableprops\\trowd}{\\v x}{\\pict\\bin4 {}{}}"),
    warnings: ["HIDDEN_TEXT"],
  },
  {
    title: "an RTF with links",
    fileName: "a.rtf",
    bytes: rtf(
      '{\\field{\\*\\fldinst{HYPERLINK "example.com"}}{\\fldrslt x}}{\\field{\\*\\fldinst HYPERLINK \\\\l "a"}}{\\*\\template C:\\\\a\\\\Normal.dotm}',
    ),
    warnings: [],
  },
  {
    title: "a PDF with links and an empty script",
    fileName: "a.pdf",
    bytes: wholePdf(
      "<< /S /URI /URI (tel:+49) >>",
      "<< /S /JavaScript /JS () >>",
      "<< /S /GoToR /F << /FS /URL /F (https://example.com/a.pdf) >> >>",
    ),
    warnings: [],
  },
  {
    title: "a PDF with a link to a local page, as browsers print relative links",
    fileName: "a.pdf",
    bytes: wholePdf("<< /A << /S /URI /URI (file:///tmp/my%20pages/other.html#a) >> >>"),
    warnings: ["EXTERNAL_LINK"],
  },
  {
    title: "a PDF with a link to a PDF beside it, as manuals in several volumes have",
    fileName: "a.pdf",
    bytes: wholePdf("<< /A << /S /GoToR /F (volume 2.pdf) /D (chapter.1) >> >>"),
    warnings: ["EXTERNAL_LINK"],
  },
  {
    title: "a PDF with a packed link to a local page",
    fileName: "a.pdf",
    bytes: wholePdf("<< /A << /S /URI /URI <66696c653a2f2f2f433a2f612e706466> >> >>"),
    warnings: ["EXTERNAL_LINK"],
  },
  {
    title: "a DOCX with a link to a local document",
    fileName: "a.docx",
    bytes: docx([related("hyperlink", "file:///C:\\Users\\a\\Terms.docx")]),
    warnings: ["EXTERNAL_LINK"],
  },
  {
    title: "an RTF with a link to a local page, as LibreOffice writes relative links",
    fileName: "a.rtf",
    bytes: rtf('{\\field{\\*\\fldinst{HYPERLINK "file:///tmp/other.html"}}{\\fldrslt x}}'),
    warnings: ["EXTERNAL_LINK"],
  },
  {
    title: "a PDF with a signature field",
    fileName: "a.pdf",
    bytes: wholePdf("<< /FT /Sig /T (s) /Type /Annot /Subtype /Widget /F 132 >>"),
    warnings: [],
  },
  {
    title: "a PDF with a filter elsewhere",
    fileName: "a.pdf",
    bytes: wholePdf(flate("BT ET"), "/FlateDecode"),
    warnings: [],
  },
  {
    title: "a PDF with an invoice",
    fileName: "a.pdf",
    bytes: attached("factur-x.xml", invoice),
    warnings: [],
  },
  {
    title: "a PDF with an invoice whose parts are elsewhere",
    fileName: "a.pdf",
    bytes: wholePdf(
      "<< /Type /Filespec /F 6 0 R /UF 6 0 R /EF 7 0 R >>",
      "(factur-x.xml)",
      "<< /F 8 0 R >>",
      pdfStream(invoice, true, "/Type /EmbeddedFile "),
    ),
    warnings: [],
  },
  {
    title: "a PDF with a photograph",
    fileName: "a.pdf",
    bytes: attached("photo.jpg", jpeg().toString("latin1")),
    warnings: [],
  },
  {
    title: "a PDF behind other bytes",
    fileName: "a.pdf",
    bytes: Buffer.concat([Buffer.from("\r\n\0"), wholePdf()]),
    warnings: [],
  },
  {
    title: "a PDF that is cut off",
    fileName: "a.pdf",
    bytes: wholePdf().subarray(0, -20),
    warnings: ["DAMAGED_FILE"],
  },
  {
    title: "a ZIP with other files",
    fileName: "a.zip",
    bytes: zip([
      { name: "a.csv", data: "1,2" },
      { name: "p/b.JPG", data: jpeg() },
      { name: ".DS_Store", data: "x" },
    ]),
    warnings: ["OTHER_FILE_TYPE"],
  },
  {
    title: "a ZIP with an unusual compression",
    fileName: "a.zip",
    bytes: zip([{ ...note, method: 14 }]),
    warnings: ["UNREADABLE_PART"],
  },
  {
    title: "a ZIP with names that differ in case",
    fileName: "a.zip",
    bytes: zip([note, { ...note, name: "A.TXT" }]),
    warnings: [],
  },
  {
    title: "a mail with an invoice and a calendar",
    fileName: "a.eml",
    bytes: mail({ name: "i.xml", data: Buffer.from(invoice) }, { name: "i.ics", data: text() }),
    warnings: ["OTHER_FILE_TYPE", "OTHER_FILE_TYPE"],
  },
  {
    title: "a mail with a picture of another format",
    fileName: "a.eml",
    bytes: mail({ name: "image001.png", data: jpeg() }),
    warnings: [],
  },
  {
    title: "a mail with an AMP page",
    fileName: "a.eml",
    bytes: disposed("text/x-amp-html", "inline", "<html amp4email></html>"),
    warnings: [],
  },
  {
    title: "a mail with a PDF in its text",
    fileName: "a.eml",
    bytes: plainMail(`See the file.\r\n${uuencoded("a.pdf", wholePdf())}`),
    warnings: [],
  },
  {
    title: "a mail with a picture in uuencode",
    fileName: "a.eml",
    bytes: plainMail(uuencoded("a.jpg", jpeg()), "Content-Transfer-Encoding: x-uuencode\r\n"),
    warnings: [],
  },
  {
    title: "a mail with a word like that of uuencode",
    fileName: "a.eml",
    bytes: plainMail("We can\nbegin 644 pallets a day\nand end on Friday."),
    warnings: [],
  },
  {
    title: "a mail in an unknown encoding",
    fileName: "a.eml",
    bytes: Buffer.from("From: a@b.c\r\nContent-Transfer-Encoding: x-other\r\n\r\nx"),
    warnings: ["UNREADABLE_PART"],
  },
];
