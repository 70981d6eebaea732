import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
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

describe("folders of files", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "receivables-files-"));
  });

  it("go with their last file", async () => {
    const files = createDiskFiles(folder);
    for (const key of ["a/runs/1/x", "a/runs/1/y", "a/runs/2/x", "b/x"]) {
      await files.put(key, [Buffer.from(key)], 100);
    }
    await files.remove("a/runs/1/x");
    expect(readdirSync(join(folder, "a/runs"))).toEqual(["1", "2"]);
    await files.remove("a/runs/1/y");
    expect(readdirSync(join(folder, "a/runs"))).toEqual(["2"]);
  });

  it("are there for files that are stored while the others are removed", async () => {
    const nodes = [createDiskFiles(folder), createDiskFiles(folder)];
    const putAndRemove = async (files: (typeof nodes)[number], key: string): Promise<void> => {
      for (let turn = 0; turn < 50; turn += 1) {
        await files.put(key, [Buffer.from("x")], 1);
        await files.remove(key);
      }
    };
    // Of one key, too, as two nodes that are asked whether they are ready.
    await Promise.all(
      nodes.flatMap((files, node) => [
        putAndRemove(files, `a/runs/${node}`),
        putAndRemove(files, "a/runs/same"),
      ]),
    );
    expect(readdirSync(join(folder, "a"))).toEqual([]);
  });
});

describeFileStore("on S3", openFakeS3Files);

describeFilesInUse("on S3", openFakeS3Files);
