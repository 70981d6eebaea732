import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { describeFileStore } from "../support/file-store.ts";
import { describeFilesInUse } from "../support/files-in-use.ts";
import { filesUnder } from "../support/pdf.ts";
import { openFakeS3Files } from "../support/s3/fake-files.ts";

describeFileStore("in a folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "receivables-files-"));
  return {
    files: createDiskFiles(folder),
    stored: async () => filesUnder(folder).map((path) => relative(folder, path)),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
});

describeFileStore("on S3", openFakeS3Files);

describeFilesInUse("on S3", openFakeS3Files);
