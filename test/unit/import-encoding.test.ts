import { describe, expect, it } from "vitest";
import { detectEncoding } from "../../src/platform/import/encoding.ts";
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

  it("is UTF-8 where single bytes of UTF-8 are damaged", async () => {
    const damaged = Buffer.concat([Buffer.from(declare("UTF-8")), Buffer.from([0xff, 10])]);
    expect(await detect(damaged)).toBe("utf-8");
  });
});
