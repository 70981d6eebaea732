import {
  docx,
  gif,
  jpeg,
  mail,
  mov,
  mp4,
  pdfStream,
  png,
  rtf,
  text,
  wholePdf,
  xlsx,
} from "./samples.ts";
import type { HostileUpload } from "./upload.ts";
import { zip } from "./zip.ts";

/** The test virus of the scanners' makers, put together here so that no scanner takes this file for it. */
export const EICAR = [
  "X5O!P%@AP[4\\PZX54(P^)7CC)7}",
  "$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*",
].join("");

const escaped = EICAR.replaceAll(/[\\{}]/g, "\\$&");
const hexEscaped = EICAR.replaceAll(/./g, (mark) => `\\'${mark.charCodeAt(0).toString(16)}\r\n`);
const virus = Buffer.from(EICAR);
const packed = zip([{ name: "a.txt", data: virus }]);
const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(EICAR, "utf16le")]);

const PLACES: readonly [string, string, Buffer][] = [
  ["alone", "a.txt", virus],
  ["alone, under another type's name", "a.pdf", virus],
  [
    "in a long text, between two pieces",
    "a.txt",
    text(`${"x".repeat(4096 - 90)}${EICAR}${"x".repeat(9000)}`),
  ],
  ["in a text of two bytes a character", "a.txt", wide],
  ["packed in a ZIP", "a.zip", packed],
  ["stored in a ZIP", "a.zip", zip([{ name: "a.txt", data: virus, stored: true }])],
  ["in a ZIP in a ZIP", "a.zip", zip([{ name: "b.zip", data: packed }])],
  ["in a ZIP's comment", "a.zip", zip([{ name: "a.txt", data: text() }], { comment: EICAR })],
  [
    "in a DOCX in a ZIP",
    "a.zip",
    zip([{ name: "b.docx", data: docx([{ name: "word/x.xml", data: virus }]) }]),
  ],
  [
    "in a mail in a ZIP",
    "a.zip",
    zip([{ name: "b.eml", data: mail({ name: "x.dat", data: virus }) }]),
  ],
  [
    "in what a file manager left in a ZIP",
    "a.zip",
    zip([{ name: "__MACOSX/._a.pdf", data: virus }]),
  ],
  ["in a DOCX", "a.docx", docx([{ name: "word/media/image1.png", data: virus }])],
  ["in an XLSX", "a.xlsx", xlsx([{ name: "xl/media/image1.bin", data: virus }])],
  ["with a mail", "a.eml", mail({ name: "x.txt", data: virus })],
  ["with a mail, without a name", "a.eml", mail({ name: "", data: virus })],
  ["with a mail, in a ZIP", "a.eml", mail({ name: "x.zip", data: packed })],
  [
    "with a mail in a mail",
    "a.eml",
    mail({
      name: "",
      type: "message/rfc822",
      plain: true,
      data: mail({ name: "x", data: virus }).subarray(),
    }),
  ],
  ["in a PDF", "a.pdf", wholePdf(pdfStream(EICAR, false))],
  ["compressed in a PDF", "a.pdf", wholePdf(pdfStream(EICAR))],
  [
    "compressed in a PDF, far behind",
    "a.pdf",
    wholePdf(pdfStream(`${"x ".repeat(99_999)}${EICAR}`)),
  ],
  ["in an RTF", "a.rtf", rtf(escaped)],
  ["in an RTF, each character escaped", "a.rtf", rtf(hexEscaped)],
  ["in a PNG's comment", "a.png", png(EICAR)],
  ["in a GIF's comment", "a.gif", gif(EICAR)],
  ["in a JPEG's comment", "a.jpeg", jpeg(EICAR)],
  ["in an MP4", "a.mp4", mp4(EICAR)],
  ["in a MOV", "a.mov", mov(EICAR)],
];

export const eicarUploads: readonly HostileUpload[] = PLACES.map(([place, fileName, bytes]) => ({
  title: `EICAR ${place}`,
  fileName,
  bytes,
  status: "Infected",
  code: "MALWARE_DETECTED",
}));
