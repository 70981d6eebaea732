import { docx, mail, rtf, text } from "./samples.ts";
import { type HostileUpload, rejected } from "./upload.ts";

const RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

const rels = (type: string, target: string, mode = ' TargetMode="External"'): Buffer =>
  docx([
    {
      name: "word/_rels/document.xml.rels",
      data: `<Relationships xmlns="${RELATIONSHIPS}"><Relationship Id="r9"${mode} Type="${OFFICE}/${type}" Target="${target}"/></Relationships>`,
    },
  ]);

const part = (xml: string): Buffer =>
  docx([
    {
      name: "word/footer1.xml",
      data: `<w:ftr xmlns:w="w" xmlns:v="v" xmlns:o="o">${xml}</w:ftr>`,
    },
  ]);

const OFFICE_FILES: readonly [string, Buffer][] = [
  ["a picture from another computer", rels("image", "\\\\server\\share\\a.png")],
  ["a picture from another computer, encoded", rels("image", "%5C%5Cserver%5Cshare%5Ca.png")],
  ["a picture from the web", rels("image", "https://example.com/a.png")],
  [
    "a picture from the web, in odd case",
    rels("IMAGE", "HTTPS://example.com/a.png", ' TargetMode=" EXTERNAL "'),
  ],
  [
    "a picture from the web, in entities",
    rels("image", "&#x68;ttps&#58;//example.com/a.png", ' TargetMode="Extern&#97;l"'),
  ],
  ["a picture from the web that says it is inside", rels("image", "https://example.com/a.png", "")],
  ["a link to a file", rels("hyperlink", "file:///c:/a.exe")],
  ["a link to another computer", rels("hyperlink", "\\\\server\\a")],
  ["a link to a program", rels("hyperlink", "ms-msdt:/id")],
  ["a linked object", rels("oleObject", "https://example.com/a")],
  ["a chunk of another kind", rels("aFChunk", "a.mht", "")],
  ["an ActiveX control", rels("control", "activeX/activeX1.xml", "")],
  [
    "a part of the type of objects",
    docx(
      [{ name: "word/x.bin", data: "x" }],
      '<Default Extension="bin" ContentType="application/vnd.openxmlformats-officedocument.oleObject"/>',
    ),
  ],
  ["a DDE field", part('<w:instrText>DDEAUTO c:\\\\cmd.exe "/k calc"</w:instrText>')],
  [
    "a DDE field in two runs",
    part("<w:instrText> DDE</w:instrText><w:t>x</w:t><w:instrText>AUTO cmd</w:instrText>"),
  ],
  ["a drawing from the web", part('<v:imagedata src="https://example.com/a.png" />')],
];

const RTFS: readonly [string, string][] = [
  ["a template", "{\\*\\template https://example.com/a.dotm}"],
  ["a template without a mark", "{\\template https://example.com/a.dotm}"],
  ["a DDE field", '{\\field{\\*\\fldinst DDEAUTO cmd "/k calc"}{\\fldrslt x}}'],
  ["a DDE field in pieces", "{\\field{\\*\\fldinst {D}{\\b DE}{AUTO} cmd}{\\fldrslt x}}"],
  ["a DDE field in escapes", "{\\field{\\*\\fldinst \\'44\\'44\\'45AUTO cmd}{\\fldrslt x}}"],
  ["a DDE field in Unicode escapes", "{\\field{\\*\\fldinst \\u68?\\u68?\\u69?AUTO cmd}}"],
  ["a field with a text", "{\\field{\\*\\fldinst INCLUDETEXT c:\\\\a.txt}}"],
  ["a link to a file", '{\\field{\\*\\fldinst HYPERLINK "file:///c:/a.exe"}}'],
  [
    "a field within a link",
    '{\\field{\\*\\fldinst HYPERLINK "https://a.example" {\\field{\\*\\fldinst DDE x}}}}',
  ],
  ["an object", "{\\object\\objemb{\\*\\objdata 01}}"],
  ["an object that updates itself", "{\\object\\objautlink\\objupdate x}"],
];

const NAMES = ["a.docm", "a.html", "a.js.", "a.exe", "a.pdf.lnk", "a.iso"];

const twoNames = Buffer.from(
  mail({ name: "a.txt", data: text(), type: 'text/plain; name="a.hta"' }).toString("latin1"),
  "latin1",
);
const uuencoded = Buffer.from(
  "From: ann@example.com\r\nSubject: x\r\n\r\nHello\r\nbegin 644 a.exe\r\n#0V%T\r\n`\r\nend\r\n",
);
const inner = mail({ name: "a.docm", data: docx() });

const MAILS: readonly [string, Buffer][] = [
  ...NAMES.map((name): [string, Buffer] => [`a file ${name}`, mail({ name, data: text() })]),
  ["a file of two names", twoNames],
  ["a file within its text", uuencoded],
  ["a mail with such a file", mail({ name: "inner.eml", data: inner })],
  [
    "a forwarded mail with such a file",
    mail({ name: "", data: inner, type: "message/rfc822", plain: true }),
  ],
  [
    "a document with a template",
    mail({ name: "a.docx", data: rels("attachedTemplate", "https://example.com/x") }),
  ],
];

const files = (
  kind: string,
  fileName: string,
  found: readonly [string, Buffer][],
): HostileUpload[] =>
  found.map(([title, bytes]) => rejected(`${kind} with ${title}`, fileName, bytes));

export const hostileDocuments: readonly HostileUpload[] = [
  ...files("a DOCX", "a.docx", OFFICE_FILES),
  ...files(
    "an RTF",
    "a.rtf",
    RTFS.map(([title, more]) => [title, rtf(more)]),
  ),
  ...files("a mail", "a.eml", MAILS),
];
