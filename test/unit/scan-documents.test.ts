import { describe, expect, it } from "vitest";
import { writeXlsx } from "hucre";
import { hostileDocuments } from "../support/uploads/hostile-office.ts";
import { docx, jpeg, mail, rtf } from "../support/uploads/samples.ts";
import { scan } from "../support/uploads/scan.ts";
import { verifies } from "../support/verifies.ts";

const RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships";

describe("check of documents that contain other files", () => {
  verifies("C-94");
  it.each(hostileDocuments)("refuses $title", async ({ fileName, bytes, code }) => {
    expect(await scan(fileName, bytes)).toMatchObject({
      status: "Rejected",
      failureReasons: [{ code }],
    });
  });

  it("accepts links to the web and to e-mail addresses", async () => {
    const link = (id: string, target: string) =>
      `<Relationship Id="${id}" TargetMode="External" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" Target="${target}"/>`;
    const data = `<Relationships xmlns="${RELATIONSHIPS}">${link("a", "https://example.com/a%20b?x=1&amp;y=2")}${link("b", "mailto:ann@example.com")}</Relationships>`;
    const file = docx([{ name: "word/_rels/document.xml.rels", data }]);
    expect(await scan("a.docx", file)).toEqual({ status: "Available", warnings: [] });
  });

  it("accepts a workbook that a library wrote", async () => {
    const bytes = await writeXlsx({
      sheets: [
        {
          name: "Claims",
          rows: [
            ["Invoice", "Amount"],
            ["4711", 12.5],
          ],
        },
      ],
    });
    expect(await scan("a.xlsx", bytes)).toEqual({ status: "Available", warnings: [] });
  });

  it("accepts an RTF with a link, page numbers and a picture", async () => {
    const more =
      '{\\*\\generator Writer;}{\\field{\\*\\fldinst{HYPERLINK "https://example.com/"}}{\\fldrslt here}}{\\field{\\*\\fldinst PAGE}{\\fldrslt 1}}{\\pict\\pngblip 89504e47}{\\*\\bkmkstart a}{\\*\\bkmkend a}\\u8211?';
    expect(await scan("a.rtf", rtf(more))).toEqual({ status: "Available", warnings: [] });
  });

  it("accepts a mail with pictures, a forwarded mail and a signature", async () => {
    const file = mail(
      { name: "logo.JPG", data: jpeg() },
      {
        name: "",
        data: mail({ name: "a.jpg", data: jpeg() }),
        type: "message/rfc822",
        plain: true,
      },
      { name: "smime.p7s", data: Buffer.from("signed"), type: "application/pkcs7-signature" },
    );
    expect(await scan("a.eml", file)).toEqual({ status: "Available", warnings: [] });
  });
});
