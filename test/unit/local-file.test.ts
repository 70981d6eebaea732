import { execFileSync } from "node:child_process";
import { appendFile, link, mkdir, mkdtemp, realpath, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { openLocalFile } from "../../src/mcp/tools/files/local-file.ts";
import { verifies } from "../support/verifies.ts";

const read = async (path: string, folder: string): Promise<string> => {
  const file = await openLocalFile(path, [folder]);
  try {
    return (await buffer(file.bytes as AsyncIterable<Uint8Array>)).toString();
  } finally {
    await file.close();
  }
};

verifies("C-104");
describe("a file in an upload folder", () => {
  let folder: string;
  let outside: string;

  beforeAll(async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "local-file-")));
    folder = join(root, "allowed");
    outside = join(root, "outside");
    await mkdir(folder);
    await mkdir(outside);
    await writeFile(join(outside, "secret.txt"), "secret");
    await writeFile(join(folder, "claim.txt"), "claim");
    await writeFile(join(folder, "empty.txt"), "");
    await link(join(outside, "secret.txt"), join(folder, "hard.txt"));
    await writeFile(join(folder, "twice.txt"), "twice");
    await link(join(folder, "twice.txt"), join(folder, "twice-again.txt"));
    await symlink(join(outside, "secret.txt"), join(folder, "soft.txt"));
    await symlink(join(folder, "claim.txt"), join(folder, "soft-inside.txt"));
    execFileSync("mkfifo", [join(folder, "pipe.txt")]);
  });

  it("is read completely, also an empty one", async () => {
    expect(await read(join(folder, "claim.txt"), folder)).toBe("claim");
    expect(await read(join(folder, "empty.txt"), folder)).toBe("");
  });

  it.each([
    "hard.txt",
    "twice.txt",
    "twice-again.txt",
    "soft.txt",
    "soft-inside.txt",
    "pipe.txt",
    "../outside/secret.txt",
  ])("is refused when it is a link or no plain file: %s", async (name) => {
    await expect(read(join(folder, name), folder)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("names no readable file"),
    });
  });

  it("refuses devices", async () => {
    await expect(read("/dev/zero", "/dev")).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("is refused if it changes while it is read", async () => {
    const path = join(folder, "growing.txt");
    await writeFile(path, Buffer.alloc(300_000, "a"));
    const file = await openLocalFile(path, [folder]);
    let sent = 0;
    const send = async (): Promise<void> => {
      for await (const piece of file.bytes as AsyncIterable<Uint8Array>) {
        if (sent === 0) await appendFile(path, "more");
        sent += piece.byteLength;
      }
    };
    await expect(send()).rejects.toMatchObject({ code: "conflict" });
    expect(sent).toBeLessThan(300_000);
    await file.close();
  });

  it("is refused if it gets a second link while it is read", async () => {
    const path = join(folder, "linked-later.txt");
    await writeFile(path, "x");
    const file = await openLocalFile(path, [folder]);
    await link(path, join(outside, "later.txt"));
    await expect(buffer(file.bytes as AsyncIterable<Uint8Array>)).rejects.toMatchObject({
      code: "conflict",
    });
    await file.close();
  });
});
