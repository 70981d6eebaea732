import { deflateSync } from "node:zlib";
import { wholePdf } from "./samples.ts";
import { type HostileUpload, rejected } from "./upload.ts";

const ACTION = "<< /S /JavaScript /JS (app.alert(1)) >>";
const HEADED = `9 0 ${ACTION}`;
const OBJECTS = "/Type /ObjStm /N 1 /First 4 ";

const stream = (data: Buffer | string, keys: string): string => {
  const bytes = Buffer.from(data);
  return `<< /Length ${bytes.byteLength} ${keys}>>\nstream\n${bytes.toString("latin1")}\nendstream`;
};

const asciiHex = (text: string): string => `${Buffer.from(text, "latin1").toString("hex")}>`;

const ascii85 = (text: string): string => {
  const bytes = Buffer.from(text, "latin1");
  const padded = Buffer.concat([bytes, Buffer.alloc((4 - (bytes.byteLength % 4)) % 4)]);
  const groups = Array.from({ length: padded.byteLength / 4 }, (_, group) => {
    const value = padded.readUInt32BE(group * 4);
    return [85 ** 4, 85 ** 3, 85 ** 2, 85, 1]
      .map((power) => String.fromCharCode(33 + (Math.floor(value / power) % 85)))
      .join("");
  });
  return `${groups.join("")}~>`;
};

const runLength = (text: string): Buffer =>
  Buffer.concat([Buffer.from([text.length - 1]), Buffer.from(text, "latin1"), Buffer.from([128])]);

const hexEscaped = (name: string): string =>
  `/${[...name].map((letter) => `#${letter.charCodeAt(0).toString(16)}`).join("")}`;

/** The last object of the update replaces the catalog of the first revision. */
const updated = (catalog: string): Buffer => {
  const before = wholePdf().toString("latin1");
  const at = before.length;
  const start = /startxref\n(\d+)/.exec(before)?.[1] ?? "";
  const object = `1 0 obj\n${catalog}\nendobj\n`;
  const table = `xref\n1 1\n${String(at).padStart(10, "0")} 00000 n \n`;
  const end = `trailer\n<< /Size 5 /Root 1 0 R /Prev ${start} >>\nstartxref\n${at + object.length}\n%%EOF\n`;
  return Buffer.from(before + object + table + end, "latin1");
};

const OPEN_ACTION = `<< /Type /Catalog /Pages 2 0 R /OpenAction ${ACTION} >>`;
const TRAILER = "<< /Size 5 /Root 1 0 R >>";
const encryptedPdf = Buffer.from(
  wholePdf()
    .toString("latin1")
    .replace(
      TRAILER,
      `<< /Size 5 /Root 1 0 R /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${"00".repeat(32)}> /U <${"00".repeat(32)}> >> /ID [<00> <00>] >>`,
    ),
  "latin1",
);

const packed = (filter: string, data: Buffer | string, more = ""): Buffer =>
  wholePdf(stream(data, `${OBJECTS}/Filter ${filter} ${more}`));

const KINDS: readonly [string, Buffer][] = [
  [
    "a script in an object stream in hexadecimal digits",
    packed("/ASCIIHexDecode", asciiHex(HEADED)),
  ],
  ["a script in an object stream in base 85", packed("/ASCII85Decode", ascii85(HEADED))],
  ["a script in an object stream of runs", packed("/RunLengthDecode", runLength(HEADED))],
  [
    "a script in an object stream packed twice",
    packed("[/ASCIIHexDecode /FlateDecode]", asciiHex(deflateSync(HEADED).toString("latin1"))),
  ],
  [
    "a script in an object stream with a predictor",
    packed("/FlateDecode", deflateSync(HEADED), "/DecodeParms << /Predictor 12 /Columns 4 >> "),
  ],
  ["an object stream with an unknown filter", packed("/Crypt", HEADED)],
  [
    "an object stream that does not say its type",
    wholePdf(stream(asciiHex(HEADED), "/N 1 /First 4 /Filter /ASCIIHexDecode ")),
  ],
  [
    "an object stream that is cut off",
    packed("/FlateDecode", deflateSync(`9 0 ${"x".repeat(500)}`).subarray(0, 12)),
  ],
  [
    "a script with a name in numbers",
    wholePdf(`<< /S ${hexEscaped("JavaScript")} ${hexEscaped("JS")} (x) >>`),
  ],
  ["a script with a name half in numbers", wholePdf("<< /S /J#61vaScript >>")],
  ["a script that an update adds", updated(OPEN_ACTION)],
  [
    "a script that an update removes",
    Buffer.concat([
      updated(OPEN_ACTION),
      updated("<< /Type /Catalog /Pages 2 0 R >>").subarray(wholePdf().byteLength),
    ]),
  ],
  [
    "a program that opens with it",
    updated("<< /Type /Catalog /Pages 2 0 R /AA << /WC << /S /Launch /F (a.exe) >> >> >>"),
  ],
  ["an attached file without a type", wholePdf("<< /F (a.docm) /EF << /F 4 0 R >> >>")],
  ["media that run programs", wholePdf("<< /Type /Annot /Subtype /RichMedia >>")],
  ["a rendition with a script", wholePdf("<< /S /Rendition /JS (x) >>")],
  ["a form that sends data", wholePdf("<< /S /SubmitForm /F (https://example.com) >>")],
  ["a page of another file", wholePdf("<< /S /GoToE /T << /R /C >> >>")],
  [
    "a stream whose data are elsewhere",
    wholePdf("<< /Length 0 /F (\\\\\\\\server\\\\share) >>\nstream\n\nendstream"),
  ],
];

export const hostilePdfs: readonly HostileUpload[] = [
  ...KINDS.map(([title, bytes]) => rejected(`a PDF with ${title}`, "a.pdf", bytes)),
  rejected("a PDF with a password", "a.pdf", encryptedPdf, "ENCRYPTED_ARCHIVE"),
];
