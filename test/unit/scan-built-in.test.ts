import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it, vi } from "vitest";
import { ZipFile } from "yazl";
import { builtInScanner } from "../../src/platform/scan/built-in.ts";
import { createBudget } from "../../src/platform/scan/scan-context.ts";
import type { ScannedFile } from "../../src/platform/scan/port.ts";
import { GOOD, goodUploads, hostileUploads, tooLarge } from "../support/uploads.ts";
import { zip } from "../support/uploads/zip.ts";
import type { Upload } from "../support/uploads/upload.ts";
import { verifies } from "../support/verifies.ts";

const scanned = ({ fileName, bytes }: Pick<Upload, "fileName" | "bytes">): ScannedFile => ({
  fileName,
  size: bytes.byteLength,
  open: () => Promise.resolve(new Blob([Uint8Array.from(bytes)]).stream()),
});

describe("built-in scanner", () => {
  verifies("AT-03");
  it.each(goodUploads)("accepts $title", async (upload) => {
    expect(await builtInScanner.scan(scanned(upload))).toMatchObject({ status: "Available" });
  });

  verifies("C-52");
  it.each(hostileUploads)("refuses $title", async (upload) => {
    expect(await builtInScanner.scan(scanned(upload))).toEqual({
      status: upload.status,
      failureReasons: [{ code: upload.code, message: expect.any(String) }],
    });
  });

  it("accepts an archive with sizes in data descriptors", async () => {
    const archive = new ZipFile();
    archive.addEmptyDirectory("papers");
    archive.addReadStream(Readable.from([GOOD[".pdf"]]), "papers/Rechnung Nr. 5 – Müller.pdf");
    archive.addReadStream(Readable.from([GOOD[".docx"]]), "b.docx", { compress: false });
    archive.addBuffer(Buffer.alloc(0), "empty.txt");
    archive.end({ forceZip64Format: true, comment: "as it is" });
    const bytes = await buffer(archive.outputStream);
    expect(await builtInScanner.scan(scanned({ fileName: "A.ZIP", bytes }))).toMatchObject({
      status: "Available",
    });
  });

  it("names the refused file inside an archive", async () => {
    const bytes = zip([{ name: "a.zip", data: zip([{ name: "b.exe", data: "x" }]) }]);
    expect(await builtInScanner.scan(scanned({ fileName: "a.zip", bytes }))).toMatchObject({
      failureReasons: [{ message: expect.stringMatching(/^a\.zip: b\.exe: Programs and scripts/) }],
    });
  });

  it("throws when the number of bytes differs from the recorded size", async () => {
    const bytes = GOOD[".txt"];
    const short = { ...scanned({ fileName: "a.txt", bytes }), size: bytes.byteLength - 1 };
    const long = { ...short, size: bytes.byteLength + 1 };
    await expect(builtInScanner.scan(short)).rejects.toThrow("size differs");
    await expect(builtInScanner.scan(long)).rejects.toThrow("size differs");
  });

  it("throws when the bytes cannot be read", async () => {
    const open = () =>
      Promise.resolve(
        new ReadableStream<Uint8Array>({ pull: (to) => to.error(new Error("disk failure")) }),
      );
    await expect(builtInScanner.scan({ fileName: "a.pdf", size: 9, open })).rejects.toThrow(
      "disk failure",
    );
  });

  it("counts what is unpacked on all nesting levels against one budget", () => {
    const budget = createBudget(1024 * 1024);
    budget.bytes(100 * 1024 * 1024);
    expect(() => budget.bytes(1)).toThrow("unpacked bytes");
    for (let count = 0; count < 1000; count += 1) budget.entry();
    expect(() => budget.entry()).toThrow("files");
  });

  it("leaves no temporary files", async () => {
    const folder = mkdtempSync(join(tmpdir(), "scanned-"));
    vi.stubEnv("TMPDIR", folder);
    try {
      for (const upload of [...hostileUploads.slice(0, 10), ...goodUploads]) {
        await builtInScanner.scan(scanned(upload));
      }
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true });
    }
  });

  verifies("C-52");
  it("refuses a file above the size limit without reading it", async () => {
    const open = () => Promise.reject(new Error("was opened"));
    expect(await builtInScanner.scan({ ...tooLarge, open })).toMatchObject({
      status: "Rejected",
      failureReasons: [{ code: "TOO_LARGE" }],
    });
  });
});
