import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { vi } from "vitest";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { createS3Files } from "../../src/platform/files/s3.ts";
import { describeFileStore } from "../support/file-store.ts";
import { filesUnder } from "../support/pdf.ts";
import { S3_ENVIRONMENT, startFakeS3 } from "../support/s3/server.ts";

describeFileStore("in a folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "receivables-files-"));
  return {
    files: createDiskFiles(folder),
    stored: async () => filesUnder(folder).map((path) => relative(folder, path)),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
});

describeFileStore("on S3", async () => {
  for (const [name, value] of Object.entries(S3_ENVIRONMENT)) vi.stubEnv(name, value);
  const s3 = await startFakeS3(3);
  return {
    files: createS3Files(s3.location("a/prefix")),
    stored: async () =>
      [...s3.objects.keys(), ...s3.uploads.values().map(({ key }) => `unfinished ${key}`)].map(
        (key) => key.replace("a/prefix/", ""),
      ),
    async close() {
      vi.unstubAllEnvs();
      await s3.stop();
      if (s3.refused.length > 0) throw new Error(s3.refused.join("\n"));
    },
  };
});
