import {
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../src/kit/log.ts";
import { createFileOnce } from "../../src/kit/once.ts";
import { replacePrivateFile } from "../../src/kit/replace-file.ts";
import { createCallLog } from "../../src/mcp/tools/call-log.ts";
import { verifies } from "../support/verifies.ts";

let folder: string;
let path: string;
let victim: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "replace-"));
  path = join(folder, "target");
  victim = join(folder, "victim");
  await writeFile(victim, "untouched");
});

const mode = async (): Promise<number> => (await lstat(path)).mode & 0o777;

const LINKS: [kind: string, make: () => Promise<unknown>][] = [
  ["a symbolic link to a file", () => symlink(victim, path)],
  ["a dangling symbolic link", () => symlink(join(folder, "absent"), path)],
  ["a symbolic link to a folder", () => symlink(folder, path)],
  ["a folder", () => mkdir(path)],
];

verifies("C-103");
describe("replacing a private file", () => {
  it("creates it and replaces a plain file, with mode 0600 and without a draft left", async () => {
    replacePrivateFile(path, "one");
    await writeFile(path, "wide", { mode: 0o644 });
    replacePrivateFile(path, "two");
    expect([await readFile(path, "utf8"), await mode()]).toEqual(["two", 0o600]);
    expect((await readdir(folder)).toSorted()).toEqual(["target", "victim"]);
  });

  it("does not change the other name of a hard link", async () => {
    await link(victim, path);
    replacePrivateFile(path, "new");
    expect(await readFile(path, "utf8")).toBe("new");
    expect(await readFile(victim, "utf8")).toBe("untouched");
  });

  it.each(LINKS)("refuses %s and changes nothing", async (_kind, make) => {
    await make();
    const before = (await readdir(folder)).toSorted();
    expect(() => replacePrivateFile(path, "new")).toThrow(path);
    expect((await readdir(folder)).toSorted()).toEqual(before);
    expect(await readFile(victim, "utf8")).toBe("untouched");
  });
});

describe("creating a private file once", () => {
  verifies("C-103");
  it.each(LINKS)("creates nothing through %s", async (_kind, make) => {
    await make();
    const before = (await readdir(folder)).toSorted();
    expect(await createFileOnce(path, "new")).toBe(false);
    expect((await readdir(folder)).toSorted()).toEqual(before);
    expect(await readFile(victim, "utf8")).toBe("untouched");
  });
});

verifies("C-103");
describe("the log of tool calls", () => {
  const record = () =>
    createCallLog({
      path,
      transport: "stdio",
      key: Buffer.alloc(32),
      now: () => 0,
      log: silentLog,
    }).record({
      caller: "local",
      tenantId: "t",
      principal: "p",
      tool: "disputes_list",
      args: {},
      outcome: "done",
      ms: 1,
      requestId: null,
    });

  it("creates a file with mode 0600", async () => {
    await record();
    expect([(await readFile(path, "utf8")).split("\n").length, await mode()]).toEqual([2, 0o600]);
  });

  it.each([...LINKS, ["a hard link", () => link(victim, path)] as const])(
    "appends nothing through %s",
    async (_kind, make) => {
      await make();
      const before = (await readdir(folder)).toSorted();
      await record();
      expect((await readdir(folder)).toSorted()).toEqual(before);
      expect(await readFile(victim, "utf8")).toBe("untouched");
    },
  );
});
