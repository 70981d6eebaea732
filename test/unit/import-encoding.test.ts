import { describe, expect, it } from "vitest";
import { detectEncoding, toUtf8 } from "../../src/platform/import/encoding.ts";
import { verifies } from "../support/verifies.ts";
import { windows1252 } from "../support/import-tables.ts";

const detect = (file: Uint8Array): Promise<string> => {
  async function* read() {
    // Less than the length of the declaration, and parts of characters.
    for (let from = 0; from < file.length; from += 100) yield file.subarray(from, from + 100);
  }
  return detectEncoding(read());
};

const declare = (encoding: string): string =>
  `<?xml version="1.0" encoding="${encoding}"?>\n<Nm>Müller</Nm>\n<Nm>Weiß</Nm>\n`;

describe("the encoding of a file with a declaration", () => {
  verifies("MN-17");
  it.each([
    { declared: "UTF-8", bytes: Buffer.from(declare("UTF-8")), is: "utf-8" },
    { declared: "UTF-8", bytes: windows1252(declare("UTF-8")), is: "iso-8859-1" },
    { declared: "UTF-8", bytes: windows1252(`${declare("UTF-8")}5 €`), is: "windows-1252" },
    { declared: "UTF-16", bytes: Buffer.from(declare("UTF-16")), is: "utf-8" },
    { declared: "UTF-16", bytes: Buffer.from(declare("UTF-16"), "utf16le"), is: "utf-16le" },
    { declared: "ISO-8859-1", bytes: Buffer.from(declare("ISO-8859-1")), is: "utf-8" },
    { declared: "ISO-8859-1", bytes: windows1252(declare("ISO-8859-1")), is: "windows-1252" },
    { declared: "ISO-8859-2", bytes: windows1252(declare("ISO-8859-2")), is: "iso-8859-2" },
    { declared: "an unknown one", bytes: Buffer.from(declare("klingon")), is: "utf-8" },
  ])("is $is where the file declares $declared", async ({ bytes, is }) => {
    expect(await detect(bytes)).toBe(is);
  });

  // More than is held of a line, with characters that begin in one part of the file and end in the next.
  const line = `<Nm>Müller & Söhne</Nm>`.repeat(100_000);
  it.each([
    { written: "UTF-8", bytes: Buffer.from(line), is: "utf-8" },
    { written: "Latin letters", bytes: windows1252(line), is: "iso-8859-1" },
    { written: "no ASCII", bytes: Buffer.alloc(2_500_000, "ß"), is: "utf-8" },
  ])("is $is where $written is one long line", async ({ bytes, is }) => {
    expect(
      await detect(Buffer.concat([Buffer.from(declare("UTF-8").split("\n")[0] ?? ""), bytes])),
    ).toBe(is);
  });

  it("is UTF-8 where single bytes of UTF-8 are damaged", async () => {
    const damaged = Buffer.concat([Buffer.from(declare("UTF-8")), Buffer.from([0xff, 10])]);
    expect(await detect(damaged)).toBe("utf-8");
  });
});

describe("the end of a file", () => {
  const convert = async (parts: readonly Buffer[], label: string): Promise<string> => {
    async function* read() {
      for (const part of parts) yield part;
    }
    const converted: Uint8Array[] = [];
    for await (const chunk of toUtf8(read(), label)) converted.push(chunk);
    return Buffer.concat(converted).toString();
  };

  verifies("MN-17");
  it.each([
    ["before Ctrl-Z", "a,b\r\n\u001a", "a,b\r\n"],
    ["before Ctrl-Z on a line of its own", "a\n\u001a\r\n", "a\n"],
    ["before NUL up to the length of a block", "a\n\u0000\u0000\u0000", "a\n"],
    ["behind blanks", "a\n \n", "a\n \n"],
    ["behind text after Ctrl-Z", "a\u001ab\n", "a\u001ab\n"],
    ["the beginning if Ctrl-Z is all", "\u001a", ""],
  ])("is %s", async (_, text, rest) => {
    for (const label of ["utf-8", "utf-16le"]) {
      const bytes = Buffer.from(text, label === "utf-8" ? "utf8" : "utf16le");
      const halves = [bytes.subarray(0, 2), bytes.subarray(2)];
      expect(await convert(halves, label)).toBe(rest);
    }
  });
});
