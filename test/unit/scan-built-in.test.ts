import { describe, expect, it } from "vitest";
import { builtInScanner } from "../../src/platform/scan/built-in.ts";
import type { ScannedFile } from "../../src/platform/scan/port.ts";
import { goodUploads, hostileUploads, tooLarge } from "../support/uploads.ts";
import type { Upload } from "../support/uploads/upload.ts";

const scanned = ({ fileName, bytes }: Pick<Upload, "fileName" | "bytes">): ScannedFile => ({
  fileName,
  size: bytes.byteLength,
  open: () => Promise.resolve(new Blob([Uint8Array.from(bytes)]).stream()),
});

describe("the built-in scanner", () => {
  it.each(goodUploads)("AT-03 lets $title pass", async (upload) => {
    expect(await builtInScanner.scan(scanned(upload))).toEqual({ status: "Available" });
  });

  it.each(hostileUploads)("C-52 stops $title", async (upload) => {
    expect(await builtInScanner.scan(scanned(upload))).toEqual({
      status: upload.status,
      failureReasons: [{ code: upload.code, message: expect.any(String) }],
    });
  });

  it("C-52 stops one byte too many without reading it", async () => {
    const open = () => Promise.reject(new Error("was opened"));
    expect(await builtInScanner.scan({ ...tooLarge, open })).toMatchObject({
      status: "Rejected",
      failureReasons: [{ code: "TOO_LARGE" }],
    });
  });
});
