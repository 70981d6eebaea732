import { mkdtempSync } from "node:fs";
import type * as Disk from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { StoreUnavailable } from "../../src/platform/store/port.ts";
import { filesUnder } from "../support/pdf.ts";
import { verifies } from "../support/verifies.ts";

/** Recorded disk operations, the error code of the next write, and what flushes of folders wait for. */
const disk = vi.hoisted(() => ({
  acts: [] as string[],
  fails: undefined as string | undefined,
  renamed: () => {},
  mayFlush: Promise.resolve(),
}));

vi.mock("node:fs/promises", async (importOriginal) => {
  const real = await importOriginal<typeof Disk>();
  const watched = (file: Disk.FileHandle, what: string): Disk.FileHandle =>
    new Proxy(file, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return async (...given: unknown[]) => {
          if (name === "writeFile" && disk.fails !== undefined) {
            throw Object.assign(new Error("the disk fails"), { code: disk.fails });
          }
          if (name === "writeFile" || name === "sync") disk.acts.push(`${name} ${what}`);
          if (name === "sync" && what === "folder") await disk.mayFlush;
          return Reflect.apply(value, target, given) as unknown;
        };
      },
    });
  return {
    ...real,
    async open(path: string, flags: string, mode?: number) {
      return watched(await real.open(path, flags, mode), flags === "r" ? "folder" : "draft");
    },
    async rename(from: string, to: string) {
      disk.acts.push("rename");
      await real.rename(from, to);
      disk.renamed();
    },
  };
});

async function* pieces(...all: string[]): AsyncGenerator<Uint8Array> {
  for (const piece of all) yield Buffer.from(piece);
}

describe("a disk", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "receivables-disk-"));
    disk.acts = [];
    disk.fails = undefined;
    disk.renamed = () => {};
    disk.mayFlush = Promise.resolve();
  });

  verifies("C-05");
  it("flushes a file before it is renamed, and its folders before it counts as stored", async () => {
    await createDiskFiles(folder).put("own/file", pieces("one", "two"), 100);
    const [rename, folders] = [disk.acts.indexOf("rename"), disk.acts.slice(-2)];
    expect(disk.acts.slice(0, rename)).toEqual([
      "writeFile draft",
      "writeFile draft",
      "sync draft",
    ]);
    expect(folders).toEqual(["sync folder", "sync folder"]);
  });

  verifies("C-05");
  it("flushes a folder once for all files that were renamed during the flush before", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    disk.mayFlush = promise;
    let left = 20;
    disk.renamed = () => {
      left -= 1;
      if (left === 0) resolve();
    };
    const files = createDiskFiles(folder);
    const keys = Array.from({ length: left }, (_, number) => `own/file-${number}`);
    await Promise.all(keys.map((key) => files.put(key, pieces("one"), 100)));
    const folders = disk.acts.filter((act) => act === "sync folder");
    // Each of the two folders for the first file, and again for all others.
    expect(folders).toHaveLength(4);
    expect(disk.acts.slice(-3)).toEqual(Array(3).fill("sync folder"));
  });

  verifies("C-06");
  it.each(["ENOSPC", "EDQUOT", "EIO", "EROFS"])(
    "that fails with %s is an outage, and leaves no partial file",
    async (code) => {
      disk.fails = code;
      const put = createDiskFiles(folder).put("own/file", pieces("one"), 100);
      await expect(put).rejects.toBeInstanceOf(StoreUnavailable);
      expect(filesUnder(folder)).toEqual([]);
      disk.fails = undefined;
      expect(await createDiskFiles(folder).put("own/file", pieces("one"), 100)).toMatchObject({
        size: 3,
      });
    },
  );

  it("that fails with another code throws an internal error", async () => {
    disk.fails = "EBADF";
    const put = createDiskFiles(folder).put("own/file", pieces("one"), 100);
    await expect(put).rejects.toThrow("the disk fails");
    await expect(put).rejects.not.toBeInstanceOf(StoreUnavailable);
    expect(filesUnder(folder)).toEqual([]);
  });
});
