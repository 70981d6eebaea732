import { chmod, mkdtemp, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { makeFolder } from "../../src/kit/make-folder.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "make-folder-"));
});

it("makes a private folder and those above it, also when several do at once", async () => {
  const path = join(folder, "a/b/c");
  await Promise.all([makeFolder(path), makeFolder(path), makeFolder(join(folder, "a/b/d"))]);
  for (const made of ["a", "a/b", "a/b/c", "a/b/d"]) {
    expect(((await stat(join(folder, made))).mode & 0o777).toString(8)).toBe("700");
  }
});

it("leaves a folder that exists as it is", async () => {
  await chmod(folder, 0o750);
  await makeFolder(folder);
  await makeFolder(".");
  expect((await stat(folder)).mode & 0o777).toBe(0o750);
});

it("refuses a file in the way, by its path", async () => {
  const path = join(folder, "file");
  await writeFile(path, "");
  await expect(makeFolder(path)).rejects.toThrow("EEXIST");
  await expect(makeFolder(join(path, "a/b"))).rejects.toThrow(`ENOTDIR: not a directory, mkdir`);
});

it.runIf(process.platform === "linux")(
  "ends where the file system has no room for folders",
  async () => {
    await expect(makeFolder("/proc/receivables/a/b")).rejects.toThrow("mkdir '/proc/receivables'");
  },
);
