import { crc32, deflateSync } from "node:zlib";
import { zip, type ZipEntry } from "./zip.ts";

export const text = (more = ""): Buffer =>
  Buffer.from(`Delivery note 4711\r\nTwo pallets short – 12 € each.\r\n${more}`);

export const rtf = (more = ""): Buffer =>
  Buffer.from(
    `{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}\\f0 Two pallets short \\'96 see \\{1\\}.${more}\\par\r\n}\r\n`,
  );

const chunk = (type: string, data: Uint8Array): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.byteLength);
  const named = Buffer.concat([Buffer.from(type), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([head, named, sum]);
};

/** One red pixel, with a comment. */
export const png = (comment = "made by hand"): Buffer =>
  Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", Buffer.from("00000001000000010802000000", "hex")),
    chunk("tEXt", Buffer.from(`Comment\0${comment}`)),
    chunk("IDAT", deflateSync(Buffer.from([0, 255, 0, 0]))),
    chunk("IEND", Buffer.alloc(0)),
  ]);

/** One pixel, with a comment of at most 255 bytes. */
export const gif = (comment = "made by hand"): Buffer =>
  Buffer.concat([
    Buffer.from("47494638396101000100800000ff000000000021fe", "hex"),
    Buffer.from([comment.length]),
    Buffer.from(comment),
    Buffer.from("002c00000000010001000002024401003b", "hex"),
  ]);

const segment = (marker: number, data: Uint8Array): Buffer => {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.byteLength + 2, 2);
  return Buffer.concat([head, data]);
};

/** One grey pixel, with a comment. */
export const jpeg = (comment = "made by hand"): Buffer =>
  Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, Buffer.from("4a46494600010100000100010000", "hex")),
    segment(0xfe, Buffer.from(comment)),
    segment(0xdb, Buffer.concat([Buffer.from([0]), Buffer.alloc(64, 1)])),
    segment(0xc0, Buffer.from("080001000101011100", "hex")),
    segment(0xc4, Buffer.from("0001000000000000000000000000000000000000", "hex")),
    segment(0xc4, Buffer.from("1001000000000000000000000000000000000000", "hex")),
    segment(0xda, Buffer.from("0101000000003f00".slice(0, 12), "hex")),
    Buffer.from([0x3f, 0xff, 0xd9]),
  ]);

const box = (type: string, data: Uint8Array | string = ""): Buffer => {
  const body = Buffer.from(data);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.byteLength + 8);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, body]);
};

const film = (brand: string, frames: string): Buffer =>
  Buffer.concat([
    box("ftyp", `${brand}\0\0\x02\0${brand}`),
    box("moov", box("mvhd", Buffer.alloc(100))),
    box("mdat", frames),
  ]);

export const mp4 = (frames = "frames"): Buffer => film("isom", frames);
export const mov = (frames = "frames"): Buffer => film("qt  ", frames);

/** An object with a stream in it, compressed or as it is. */
export const pdfStream = (content: string, compressed = true, keys = ""): string => {
  const data = compressed
    ? deflateSync(Buffer.from(content, "latin1"))
    : Buffer.from(content, "latin1");
  const filter = compressed ? "/Filter /FlateDecode " : "";
  return `<< /Length ${data.byteLength} ${filter}${keys}>>\nstream\n${data.toString("latin1")}\nendstream`;
};

/** One empty page, and more objects. */
export const wholePdf = (...more: string[]): Buffer => {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R >>",
    pdfStream("BT /F1 12 Tf (Two pallets short) Tj ET"),
    ...more,
  ];
  let written = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n";
  const places = objects.map((object, index) => {
    const at = written.length;
    written += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join("")}`;
  const end = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${written.length}\n%%EOF\n`;
  return Buffer.from(written + table + end, "latin1");
};

const OPEN_XML = "application/vnd.openxmlformats-officedocument";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";

export const contentTypes = (part: string, type: string, more = ""): string =>
  `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/${part}" ContentType="${type}"/>${more}</Types>`;

const relationships = (part: string): string =>
  `<?xml version="1.0"?>\n<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="${part}"/></Relationships>`;

export const DOCX_TYPE = `${OPEN_XML}.wordprocessingml.document.main+xml`;

const office = (part: string, type: string, xml: string, more: ZipEntry[], types: string): Buffer =>
  zip([
    { name: "[Content_Types].xml", data: contentTypes(part, type, types) },
    { name: "_rels/.rels", data: relationships(part) },
    { name: part, data: xml },
    ...more,
  ]);

export const docx = (more: ZipEntry[] = [], types = "", type = DOCX_TYPE): Buffer =>
  office(
    "word/document.xml",
    type,
    '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Two pallets short</w:t></w:r></w:p></w:body></w:document>',
    more,
    types,
  );

export const xlsx = (more: ZipEntry[] = [], types = ""): Buffer =>
  office(
    "xl/workbook.xml",
    `${OPEN_XML}.spreadsheetml.sheet.main+xml`,
    '<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheets/></workbook>',
    more,
    types,
  );

export type Enclosed = { name: string; data: Uint8Array; type?: string; plain?: boolean };

/** A mail with a text, and what comes with it in base64. */
export const mail = (...enclosed: Enclosed[]): Buffer => {
  const parts = enclosed.map(({ name, data, type = "application/octet-stream", plain = false }) => {
    const named = name === "" ? "" : `Content-Disposition: attachment; filename="${name}"\r\n`;
    const encoding = plain ? "" : "Content-Transfer-Encoding: base64\r\n";
    const base64 = Buffer.from(data).toString("base64").replaceAll(/.{76}/g, "$&\r\n");
    const body = plain ? Buffer.from(data).toString("latin1") : base64;
    return `--limit\r\nContent-Type: ${type}\r\n${named}${encoding}\r\n${body}\r\n`;
  });
  const head =
    "Received: from a.example by b.example\r\nFrom: Ann <ann@example.com>\r\nTo: bo@example.com\r\nSubject: =?utf-8?q?Short_=E2=82=AC?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed;\r\n boundary=limit\r\n\r\n";
  const words =
    "--limit\r\nContent-Type: text/html\r\n\r\n<html><body>Two pallets short</body></html>\r\n";
  return Buffer.from(`${head}${words}${parts.join("")}--limit--\r\n`, "latin1");
};

/** A file in uuencode, as mail programs of the nineties put it into a text. */
export const uuencoded = (name: string, data: Uint8Array): string => {
  const character = (bits: number): string => String.fromCharCode((bits & 0x3f) + 0x20);
  const lines = Array.from({ length: Math.ceil(data.byteLength / 45) }, (_, row) => {
    const bytes = data.subarray(row * 45, row * 45 + 45);
    const groups = Array.from({ length: Math.ceil(bytes.length / 3) }, (_group, at) => {
      const [a = 0, b = 0, c = 0] = bytes.subarray(at * 3, at * 3 + 3);
      return [a >> 2, (a << 4) | (b >> 4), (b << 2) | (c >> 6), c].map(character).join("");
    });
    return `${character(bytes.length)}${groups.join("")}\r\n`;
  });
  return `begin 644 ${name}\r\n${lines.join("")}\`\r\nend\r\n`;
};

/** A mail of one part with further fields. */
export const plainMail = (text: string, fields = ""): Buffer =>
  Buffer.from(`From: a@example.com\r\n${fields}\r\n${text}`);

/** The header of a Windows program, which a scanner recognizes. */
export const program = (): Buffer => {
  const bytes = Buffer.alloc(512);
  bytes.write("MZ", 0);
  bytes.writeUInt32LE(128, 60);
  bytes.write("This program cannot be run in DOS mode.", 78);
  bytes.write("PE\0\0", 128);
  bytes.writeUInt16LE(0x8664, 132);
  return bytes;
};
