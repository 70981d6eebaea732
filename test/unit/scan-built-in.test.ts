import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it, vi } from "vitest";
import { ZipFile } from "yazl";
import { builtInScanner } from "../../src/platform/scan/built-in.ts";
import { newBudget } from "../../src/platform/scan/nest.ts";
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

describe("the built-in scanner", () => {
  verifies("AT-03");
  it.each(goodUploads)("lets $title pass", async (upload) => {
    expect(await builtInScanner.scan(scanned(upload))).toEqual({ status: "Available" });
  });

  verifies("C-52");
  it.each(hostileUploads)("stops $title", async (upload) => {
    expect(await builtInScanner.scan(scanned(upload))).toEqual({
      status: upload.status,
      failureReasons: [{ code: upload.code, message: expect.any(String) }],
    });
  });

  it("lets an archive pass whose writer did not know the sizes beforehand", async () => {
    const archive = new ZipFile();
    archive.addEmptyDirectory("papers");
    archive.addReadStream(Readable.from([GOOD[".pdf"]]), "papers/Rechnung Nr. 5 – Müller.pdf");
    archive.addReadStream(Readable.from([GOOD[".docx"]]), "b.docx", { compress: false });
    archive.addBuffer(Buffer.alloc(0), "empty.txt");
    archive.end({ forceZip64Format: true, comment: "as it is" });
    const bytes = await buffer(archive.outputStream);
    expect(await builtInScanner.scan(scanned({ fileName: "A.ZIP", bytes }))).toEqual({
      status: "Available",
    });
  });

  it("tells that a file in an archive is meant", async () => {
    const bytes = zip([{ name: "a.zip", data: zip([{ name: "b.svg", data: "<svg/>" }]) }]);
    expect(await builtInScanner.scan(scanned({ fileName: "a.zip", bytes }))).toMatchObject({
      failureReasons: [{ message: expect.stringMatching(/^A file in the archive was refused: /) }],
    });
  });

  it("fails where the bytes are not those that were recorded", async () => {
    const bytes = GOOD[".txt"];
    const short = { ...scanned({ fileName: "a.txt", bytes }), size: bytes.byteLength - 1 };
    const long = { ...short, size: bytes.byteLength + 1 };
    await expect(builtInScanner.scan(short)).rejects.toThrow("another size");
    await expect(builtInScanner.scan(long)).rejects.toThrow("another size");
  });

  it("fails where the bytes cannot be read", async () => {
    const open = () =>
      Promise.resolve(
        new ReadableStream<Uint8Array>({ pull: (to) => to.error(new Error("disk failure")) }),
      );
    await expect(builtInScanner.scan({ fileName: "a.pdf", size: 9, open })).rejects.toThrow(
      "disk failure",
    );
  });

  it("takes no more than its budget, however it is packed", () => {
    const budget = newBudget();
    budget.bytes(512 * 1024 * 1024);
    expect(() => budget.bytes(1)).toThrow("unpacks");
    const files = newBudget();
    for (let count = 0; count < 10_000; count += 1) files.file();
    expect(() => files.file()).toThrow("files");
  });

  it("leaves nothing behind in the folder for temporary files", async () => {
    const folder = mkdtempSync(join(tmpdir(), "scanned-"));
    vi.stubEnv("TMPDIR", folder);
    try {
      for (const upload of [...hostileUploads.slice(0, 10), ...goodUploads]) {
        // oxlint-disable-next-line no-await-in-loop -- few
        await builtInScanner.scan(scanned(upload));
      }
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true });
    }
  });

  verifies("C-52");
  it("stops one byte too many without reading it", async () => {
    const open = () => Promise.reject(new Error("was opened"));
    expect(await builtInScanner.scan({ ...tooLarge, open })).toMatchObject({
      status: "Rejected",
      failureReasons: [{ code: "TOO_LARGE" }],
    });
  });
});
