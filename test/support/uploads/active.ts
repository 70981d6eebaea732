import { docx, DOCX_TYPE, mail, pdfStream, program, rtf, text, wholePdf, xlsx } from "./samples.ts";
import { type HostileUpload, rejected } from "./upload.ts";
import { zip } from "./zip.ts";

const remote = (type: string, target: string): string =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" TargetMode="External" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/></Relationships>`;

const RELATED = "word/_rels/settings.xml.rels";
const MACRO_TYPE = "application/vnd.ms-word.document.macroEnabled.main+xml";
const VBA_TYPE = "application/vnd.ms-office.vbaProject";
const entities = VBA_TYPE.replaceAll("v", "&#118;");

const KINDS: readonly [string, string, Buffer][] = [
  ["a PDF that runs a script", "a.pdf", wholePdf("<< /S /JavaScript /JS (app.alert(1)) >>")],
  [
    "a PDF that runs a script, spelled in numbers",
    "a.pdf",
    wholePdf("<< /S /J#61vaScr#69pt /JS (x) >>"),
  ],
  ["a PDF that starts a program", "a.pdf", wholePdf("<< /S /Launch /F (cmd.exe) >>")],
  [
    "a PDF that holds a program",
    "a.pdf",
    wholePdf(pdfStream(program().toString("latin1"), true, "/Type /EmbeddedFile ")),
  ],
  ["a DOCX with macros", "a.docx", docx([{ name: "word/vbaProject.bin", data: "x" }])],
  [
    "a DOCX with macros under another name",
    "a.docx",
    docx(
      [{ name: "word/x.bin", data: "x" }],
      `<Override PartName="/word/x.bin" ContentType="${VBA_TYPE}"/>`,
    ),
  ],
  [
    "a DOCX with macros, spelled in entities",
    "a.docx",
    docx(
      [{ name: "word/x.bin", data: "x" }],
      `<Override PartName="/word/x.bin" ContentType="${entities}"/>`,
    ),
  ],
  ["a DOCM as DOCX", "a.docx", docx([], "", MACRO_TYPE)],
  [
    "a DOCX that names its type twice",
    "a.docx",
    docx([], `<Override PartName="/word/d.xml" ContentType="${DOCX_TYPE}"/>`, MACRO_TYPE),
  ],
  [
    "a DOCX with a template from elsewhere",
    "a.docx",
    docx([{ name: RELATED, data: remote("attachedTemplate", "https://example.com/x.dotm") }]),
  ],
  [
    "a DOCX with a template from another computer",
    "a.docx",
    docx([{ name: RELATED, data: remote("attachedTemplate", "\\\\server\\share\\x.dotm") }]),
  ],
  [
    "a DOCX with an object from elsewhere",
    "a.docx",
    docx([{ name: RELATED, data: remote("oleObject", "&#104;ttps://example.com/x") }]),
  ],
  [
    "a DOCX with a program in it",
    "a.docx",
    docx([{ name: "word/embeddings/oleObject1.bin", data: program() }]),
  ],
  [
    "a DOCX with an own document type",
    "a.docx",
    docx([{ name: RELATED, data: '<!DOCTYPE x [<!ENTITY e "e">]><x>&e;</x>' }]),
  ],
  [
    "an XLSX with a macro sheet",
    "a.xlsx",
    xlsx([{ name: "xl/macrosheets/sheet1.xml", data: "<x/>" }]),
  ],
  ["an XLSX without types", "a.xlsx", zip([{ name: "xl/workbook.xml", data: "<workbook/>" }])],
  ["an RTF with an object", "a.rtf", rtf("{\\object\\objemb{\\*\\objdata 0105000002000000}}")],
  [
    "an RTF with an object, broken over lines",
    "a.rtf",
    rtf("{\\object{\\*\\obj\r\ndata 01050000}}"),
  ],
  ["a mail with a program", "a.eml", mail({ name: "x.dat", data: program() })],
  ["a mail with a program by its name", "a.eml", mail({ name: "invoice.pdf.exe", data: text() })],
  ["a mail with a script by its name", "a.eml", mail({ name: "invoice.js", data: text() })],
  ["a mail with a picture that is none", "a.eml", mail({ name: "x.png", data: text() })],
];

export const activeUploads: readonly HostileUpload[] = KINDS.map((kind) => rejected(...kind));
