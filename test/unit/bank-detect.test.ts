import { describe, expect, it } from "vitest";
import yazl from "yazl";
import { readArchive } from "../../src/platform/import/archive.ts";
import { detectContent } from "../../src/platform/import/detect.ts";
import { detectFile } from "../../src/platform/import/input.ts";
import { bai2, camtStatement, edi820, isa, mt940 } from "../support/bank-files.ts";
import { verifies } from "../support/verifies.ts";

const detect = (content: string | Uint8Array) => detectContent(Buffer.from(content));

describe("kinds of files by their content", () => {
  verifies("MN-17");
  it("tells a text that is filled up with NUL", async () => {
    async function* bytes() {
      yield Buffer.from(`${bai2([])}\u001a`);
      yield Buffer.alloc(400);
    }
    expect(await detectFile({ name: "f", bytes })).toBe("bai2");
  });

  verifies("MN-17");
  it.each([
    [bai2([]), "bai2"],
    [camtStatement(""), "camt"],
    [Buffer.from(`\uFEFF${camtStatement("")}`, "utf16le"), "camt"],
    [`<Envelope><Body>${camtStatement("")}</Body></Envelope>`, "camt"],
    [edi820([]), "edi820"],
    [`Remittance of today\n\n${edi820([])}`, "edi820"],
    [mt940([]), "mt940"],
    [`{1:F01X}{2:I940X}{4:\n${mt940([])}`, "mt940"],
    ['{"amount":1}\n', "ndjson"],
    ["Number;Amount\n1;2\n", "csv"],
    ["01,2\n3,4\n", "csv"],
    ["", "csv"],
    ["PK\u0003\u0004..[Content_Types].xml..xl/workbook.xml", "xlsx"],
    ["PK\u0003\u0004..a.xml", "zip"],
  ])("tells %j", (content, kind) => {
    expect(detect(content)).toBe(kind);
  });

  it.each([
    [edi820([]).replace("ST*820", "ST*835"), "an X12 835 (health care claim payment)"],
    [`${isa()}GS*RA~ST*810*1~`, "an X12 810 (invoice)"],
    ['<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.03">', "pain.001 (customer"],
    ['<D xmlns="urn:iso:std:iso:20022:tech:xsd:camt.029.001.09">', "camt.029 (resolution"],
    ["<!DOCTYPE html><html>", "a web page"],
    ["<invoice>", "an XML file <invoice>"],
    ["%PDF-1.7", "a PDF"],
    [Buffer.from("D0CF11E0A1B11AE1", "hex"), "an old binary Office file"],
    [Buffer.from("1F8B0800", "hex"), "a gzip archive"],
    [Buffer.from("FFFE000061000000", "hex"), "a text in UTF-32"],
    [Buffer.from("0000FEFF00000061", "hex"), "a text in UTF-32"],
    ["PK\u0003\u0004..[Content_Types].xml..word/document.xml", "a Word document"],
    ["UNB+UNOA:1+A+B'UNH+1+REMADV:D:96A'", "an EDIFACT REMADV"],
    [":20:X\n:25:1\n:28C:1\n:34F:EUR0,\n", "a SWIFT MT942"],
    ["[1,2]", "a JSON array"],
    [Buffer.from([1, 0, 0, 0, 9, 0]), "a binary file"],
  ])("names %j as what it is", (content, name) => {
    expect(detect(content)).toMatchObject({ foreign: expect.stringContaining(name) });
  });
});

const pack = async (files: Readonly<Record<string, Buffer>>): Promise<Buffer> => {
  const zip = new yazl.ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(content, name);
  zip.end();
  const pieces: Buffer[] = [];
  for await (const piece of zip.outputStream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
};

const readAll = async (bytes: AsyncIterable<Uint8Array>): Promise<string> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

describe("ZIP archives of bank files", () => {
  verifies("MN-17");
  it("opens each member as often as needed", async () => {
    const packed = await pack({ "a.xml": Buffer.from("one"), "b/c.sta": Buffer.from("two") });
    const members = await readArchive(packed);
    expect(members.map(({ name, size }) => [name, size])).toEqual([
      ["a.xml", 3],
      ["b/c.sta", 3],
    ]);
    const [first] = members;
    if (first === undefined) throw new Error("The archive has no member.");
    expect([await readAll(first.bytes()), await readAll(first.bytes())]).toEqual(["one", "one"]);
  });

  it("passes over files that an operating system adds", async () => {
    const added = ["__MACOSX/._a.xml", "b/._c.sta", ".DS_Store", "b/.DS_Store", "Thumbs.db"];
    const names = ["a.xml", ...added, "b/desktop.ini", "b/c.sta", "b._d.csv"];
    const packed = await pack(Object.fromEntries(names.map((name) => [name, Buffer.from("x")])));
    const members = await readArchive(packed);
    expect(members.map(({ name }) => name)).toEqual(["a.xml", "b/c.sta", "b._d.csv"]);
  });

  it("refuses archives in archives, damage, encryption and bombs by name", async () => {
    const inner = await pack({ "a.txt": Buffer.from("one") });
    const nested = await readArchive(await pack({ "in.zip": inner }));
    await expect(readAll(nested[0]?.bytes() as AsyncIterable<Uint8Array>)).rejects.toThrow(
      'file "in.zip" is an archive again',
    );
    const zeros = await pack({ zeros: Buffer.alloc(64 * 1024 * 1024) });
    await expect(readArchive(zeros)).rejects.toThrow("unpacks to over 200 times its size");
    const locked = Buffer.from(inner);
    // The flags of the first central directory record.
    locked.writeUInt16LE(1, locked.indexOf("PK\u0001\u0002") + 8);
    await expect(readArchive(locked)).rejects.toThrow('"a.txt" is encrypted');
    await expect(readArchive(inner.subarray(0, 40))).rejects.toThrow("the archive is broken");
  });

  it("refuses an archive of too many files", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1001 }, (_, place) => [`${place}`, Buffer.from("x")]),
    );
    await expect(readArchive(await pack(many))).rejects.toThrow("more than 1000 files");
  });
});
