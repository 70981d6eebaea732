import { gif, jpeg, mov, mp4, pdfStream, png, program, text, wholePdf } from "./samples.ts";
import { type HostileUpload, rejected } from "./upload.ts";
import { zip } from "./zip.ts";

const note = { name: "a.txt", data: text() };
const archive = zip([note]);
const after = (first: Buffer, second: Buffer | string): Buffer =>
  Buffer.concat([first, Buffer.from(second)]);
const pdf = wholePdf();

const PROGRAMS: Readonly<Record<string, string>> = {
  Linux: "7f454c4602010100",
  macOS: "cffaedfe07000001",
  "universal macOS": "cafebabe0000000201000007",
  Java: "cafebabe00000034",
};

const KINDS: readonly [string, string, Buffer][] = [
  ["a PDF that is a ZIP", "a.pdf", zip([note], { before: pdf, comment: "%%EOF" })],
  [
    "a PDF that is a web page",
    "a.pdf",
    wholePdf(pdfStream("<html><script>alert(1)</script></html>", false)),
  ],
  ["a PDF that is a shell script", "a.pdf", wholePdf("(\n#!/bin/sh\nid\n)")],
  [
    "a PDF with a program behind it",
    "a.pdf",
    Buffer.concat([pdf, program(), Buffer.from("%%EOF")]),
  ],
  ["a PDF behind a program", "a.pdf", after(program(), pdf)],
  ["a PDF behind a GIF", "a.pdf", after(gif(), pdf)],
  ["a GIF that is a ZIP", "a.gif", after(gif(), archive)],
  ["a GIF with a page in its comment", "a.gif", gif("<script>alert(1)</script>")],
  ["a PNG with a program behind it", "a.png", after(png(), program())],
  ["a PNG with a page in its comment", "a.png", png("<SCRIPT src=//example.com>")],
  ["a PNG that is a ZIP", "a.png", after(png(), archive)],
  ["a JPEG with PHP in its comment", "a.jpeg", jpeg("<?php system($_GET['c']); ?>")],
  ["a JPEG that is a ZIP", "a.jpeg", after(jpeg(), archive)],
  ["a JPEG with a program behind it", "a.jpeg", after(jpeg(), program())],
  [
    "a JPEG with another archive behind it",
    "a.jpeg",
    after(jpeg(), Buffer.from("526172211a0701007273", "hex")),
  ],
  ...Object.entries(PROGRAMS).map(([system, hex]): [string, string, Buffer] => [
    `a JPEG with a ${system} program behind it`,
    "a.jpeg",
    after(jpeg(), Buffer.concat([Buffer.from(hex, "hex"), Buffer.alloc(64)])),
  ]),
  ["a JPEG with a PDF behind it", "a.jpeg", after(jpeg(), pdf)],
  ["a JPEG with the beginning of a PDF in its comment", "a.jpeg", jpeg("%PDF-1.4\n1 0 obj")],
  ["a GIF with the beginning of a PDF in its comment", "a.gif", gif("%PDF-1.4\n1 0 obj")],
  ["a PNG with a PDF in its comment", "a.png", png(pdf.toString("latin1"))],
  ["an MP4 that is a PDF", "a.mp4", mp4(pdf.toString("latin1"))],
  ["a MOV that is a PDF", "a.mov", mov(pdf.toString("latin1"))],
  ["a MOV that is a ZIP", "a.mov", after(mov(), archive)],
  ["an MP4 that is a ZIP", "a.mp4", after(mp4(), archive)],
  ["an MP4 with a program in it", "a.mp4", mp4(program().toString("latin1"))],
  ["a ZIP behind a program", "a.zip", zip([note], { before: program() })],
  ["a ZIP behind other bytes", "a.zip", zip([note], { before: "PK\x03\x04 or not" })],
  ["a web page as a text", "a.txt", Buffer.from("\n <!DOCTYPE html><title>x</title>")],
  ["a PDF as a text, behind a line", "a.txt", Buffer.from(`A note\n%PDF-1.4\n%%EOF`)],
  ["a script as a text", "a.txt", Buffer.from("#!/bin/sh\nid\n")],
  ["an RTF with a program behind it", "a.rtf", after(Buffer.from("{\\rtf1 x}"), program())],
];

export const polyglotUploads: readonly HostileUpload[] = KINDS.map((kind) => rejected(...kind));
