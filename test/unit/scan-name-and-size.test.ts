import { describe, expect, it } from "vitest";
import { findExtension, FILE_TYPES, MAX_FILE_BYTES } from "../../src/contract/file-types.ts";
import { checkNameAndSize } from "../../src/platform/scan/names.ts";
import { type ScannedFile, type Scanner, toVerdict } from "../../src/platform/scan/port.ts";
import { verifies } from "../support/verifies.ts";

const file = (fileName: string, size = 10): ScannedFile => ({
  fileName,
  size,
  open: () => Promise.reject(new Error("was opened")),
});

const outside: Scanner = {
  scan: (scanned) =>
    toVerdict(async () => {
      checkNameAndSize(scanned);
      return { status: "Available", warnings: [] };
    }),
};

describe("scan of a file's name and size", () => {
  verifies("AT-03");
  it("accepts twelve extensions in any case", () => {
    const endings = ".pdf .zip .eml .jpeg .gif .png .mov .mp4 .docx .xlsx .txt .rtf".split(" ");
    expect(Object.keys(FILE_TYPES)).toEqual(endings);
    for (const ending of endings) {
      expect(findExtension(`a.b${ending}`)).toBe(ending);
      expect(findExtension(`a${ending.toUpperCase()}`)).toBe(ending);
    }
  });

  verifies("AT-03");
  it("refuses every other extension", async () => {
    const names = ["a.exe", "a.jpg", "a.html", "a.svg", "pdf", "", ".pdf", "a.pdf.exe", "a.pdf "];
    names.push("a.pdf.", "a.constructor", "a.__proto__");
    for (const name of names) {
      expect(findExtension(name), name).toBeUndefined();
      expect(await outside.scan(file(name)), name).toMatchObject({
        status: "Rejected",
        failureReasons: [{ code: "TYPE_MISMATCH" }],
      });
    }
  });

  verifies("C-55");
  it("refuses names with line ends and bidirectional marks", async () => {
    for (const name of [
      "a\r\nb.pdf",
      "a\0.pdf",
      "fdp.\u202Etxt.pdf",
      "a\u2066.pdf",
      "\u200f.pdf",
    ]) {
      expect(await outside.scan(file(name)), name).toMatchObject({ status: "Rejected" });
    }
  });

  it("refuses an empty file and one byte above the limit", async () => {
    const codeOf = async (size: number) => {
      const verdict = await outside.scan(file("a.pdf", size));
      return verdict.status === "Available" ? undefined : verdict.failureReasons[0]?.code;
    };
    expect(await codeOf(0)).toBe("EMPTY_FILE");
    expect(await codeOf(1)).toBeUndefined();
    expect(await codeOf(MAX_FILE_BYTES)).toBeUndefined();
    expect(await codeOf(MAX_FILE_BYTES + 1)).toBe("TOO_LARGE");
  });

  it("throws when a scanner fails, instead of returning a verdict", async () => {
    const failure = toVerdict(() => Promise.reject(new Error("no connection")));
    await expect(failure).rejects.toThrow("no connection");
  });
});
