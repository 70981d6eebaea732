import { Readable } from "node:stream";
import type { Extension } from "../src/contract/file-types.ts";
import { withSpooledFile } from "../src/kit/bytes.ts";
import type { ReadableType } from "../src/mcp/files/port.ts";
import { readFileText } from "../src/mcp/files/read-file.ts";
import { checkFieldCode, checkFormula } from "../src/platform/scan/formats/fields.ts";
import { inspectUpload } from "../src/platform/scan/inspect.ts";
import { isLocalDocument, isWebLink } from "../src/platform/scan/links.ts";
import { createBudget, type ScanContext } from "../src/platform/scan/scan-context.ts";
import { describeScanners, type Scan, type Scanner } from "./support/linear-scanners.ts";
import { verifies } from "./support/verifies.ts";

/** Scans a file as the scanner's worker thread does, but in this thread, whose processor time is measured. */
const scanAs =
  (type: Extension): Scan =>
  (text) =>
    withSpooledFile(Readable.from([Buffer.from(text, "latin1")]), async (bytes) => {
      await inspectUpload(type, bytes);
    });

/** Reads the text of a file as the thread of the MCP server does. */
const readAs =
  (type: ReadableType): Scan =>
  (text) =>
    readFileText(
      {
        type,
        bytes: new Uint8Array(Buffer.from(text, "latin1")),
        from: { unit: 1, offset: 0 },
        last: null,
        tokens: 5000,
        pictures: 3,
      },
      () => false,
    );

const nest: ScanContext = {
  depth: { archives: 0, mails: 0, packages: 0 },
  budget: createBudget(0),
  warn() {},
  async inspect() {},
};

const PDF_HEAD = "%PDF-1.7\n";
const SCANNERS: readonly Scanner[] = [
  [
    "PDF",
    (text) => scanAs(".pdf")(PDF_HEAD + text),
    [
      "(",
      "<",
      "<<",
      "[",
      "%",
      "/",
      "/#4",
      "1 0 obj 1 endobj\n",
      "1 0 obj<<>>stream\nendstream endobj\n",
      ["1 0 obj [", "1 0 R "],
      ["1 0 obj <<", "/a 1", ">> endobj"],
      ["xref ", "0 "],
      "/First ",
      "trailer<<>>",
    ],
  ],
  [
    "RTF",
    scanAs(".rtf"),
    [
      ["{\\rtf1", "{"],
      ["{\\rtf1", "\\"],
      ["{\\rtf1", "\\'4"],
      ["{\\rtf1", "{\\*\\pn}"],
      ["{\\rtf1 {\\field{\\*\\fldinst ", " "],
      ["{\\rtf1 ", "0a"],
      ["{\\rtf1", "\\a1"],
    ],
  ],
  [
    "mail",
    scanAs(".eml"),
    [
      ["From: a\n", " x\n"],
      ["From: a\n", "A:b\n"],
      ["From: a\nContent-Type: multipart/mixed; boundary=b\n\n", "--b\n"],
      ["From: a\nContent-Type: multipart/mixed; boundary=b\n\n", "--b\n\n"],
      ["From: a\nContent-Type: a; ", "name*0=a;", "\n\nx"],
      ["From: a\nContent-Disposition: attachment; filename==?utf-8?q?", "=41", "?=\n\nx"],
      ["From: a\nContent-Transfer-Encoding: quoted-printable\n\n", "="],
      ["From: a\nContent-Transfer-Encoding: base64\n\n", "="],
      ["From: a\n\n", "begin 644 "],
      ["From: a\n\n", "begin 644 a\n"],
      ["From: a\n\nbegin 644 a\n", "M\n"],
      ["From: a\n\nbegin-base64 644 a\n", "QUJD\n"],
    ],
  ],
  [
    "links",
    (text) => [isWebLink(text), isLocalDocument(`file:///${text}`)],
    ["%2", "/", "a.", "\u200b", "?", ["a:", "1"], ["", " ", ".pdf"]],
  ],
  [
    "fields of documents",
    (text) => checkFieldCode(text, nest),
    ['"', "HYPERLINK ", ["HYPERLINK ", "\\"], ["HYPERLINK ", "a "], ["", " ", "DDE"]],
  ],
  [
    "formulas",
    (text) => checkFormula(text, nest),
    ['"', "'", "[", "CALL", 'HYPERLINK("', ["", "'a'"], ["[", "a", "]"], ["CALL", " "]],
  ],
  [
    "text of RTF",
    readAs(".rtf"),
    [
      ["{\\rtf1", "\\"],
      ["{\\rtf1", "\\'4"],
      ["{\\rtf1", "\\u65?"],
      ["{\\rtf1", "{\\*\\pn}"],
      ["{\\rtf1", "\\f1 \\'e9"],
      ["{\\rtf1{\\fonttbl", "{\\f1\\fcharset204 a;}"],
      ["{\\rtf1", "\\bin1 a"],
      ["{\\rtf1 ", "a\\par\n"],
    ],
  ],
  [
    "text of HTML",
    readAs(".html"),
    [
      "<",
      "<a",
      "<!--",
      "&amp;",
      "&",
      "<br>",
      "<p> \n",
      " \n",
      "</p>",
      ["<script>", "<"],
      ["<a ", "b=c "],
    ],
  ],
  [
    "text of mails",
    readAs(".eml"),
    [
      ["From: a\n\n", "begin 644 a\n"],
      ["From: a\n\nbegin 644 a\n", "M\n"],
      ["From: ", "a@b.example, ", "\n\nx"],
      ["From: a\nContent-Type: multipart/mixed; boundary=b\n\n", "--b\n\n"],
    ],
  ],
  ["plain text", readAs(".txt"), ["\n", " ", "é", "<", "a ", "\0a"]],
  ["text files", scanAs(".txt"), ["\n", "é", "begin 644 ", "<", "PE\u0000"]],
  [
    "pictures",
    scanAs(".gif"),
    [
      ["GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000", "!\u00f9\u0000"],
      ["GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000", ","],
    ],
  ],
];

verifies("C-88");
describeScanners(SCANNERS);
