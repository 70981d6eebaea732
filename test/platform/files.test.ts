import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HOUR } from "../../src/kit/clock.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { formatDisposition, toSafeName } from "../../src/platform/files/name.ts";
import { type FileStore, FileTooLarge } from "../../src/platform/files/port.ts";
import { connectionOf, DOCUMENTS, filesUnder, invoice, pdf, uploadPath } from "../support/pdf.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const ID = "00000000-0000-4000-8000-000000000001";
const KEY = `own/${ID}`;

async function* pieces(...all: string[]): AsyncGenerator<Uint8Array> {
  for (const piece of all) yield Buffer.from(piece);
}

const listed = async (files: FileStore, first: string): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of files.list(first)) keys.push(key);
  return keys.toSorted();
};

describe("files on a disk", () => {
  let parent: string;
  let folder: string;

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), "receivables-files-"));
    folder = join(parent, "files");
  });
  afterEach(() => rmSync(parent, { recursive: true, force: true }));

  const contentOf = async (key: string): Promise<string | undefined> => {
    const file = await createDiskFiles(folder).open(key);
    return file && text(file.bytes);
  };

  it("stores a whole stream, and returns its size and hash", async () => {
    const kept = await createDiskFiles(folder).put(KEY, pieces("one, ", "two"), 100);
    const sha256 = createHash("sha256").update("one, two").digest("hex");
    expect(kept).toEqual({ size: 8, sha256 });
    expect(await contentOf(KEY)).toBe("one, two");
    expect(
      await createDiskFiles(folder)
        .open(KEY)
        .then(async (file) => {
          await file?.bytes.cancel();
          return file?.size;
        }),
    ).toBe(8);
    expect(filesUnder(folder)).toEqual([join(folder, KEY)]);
    await createDiskFiles(folder).remove(KEY);
    await createDiskFiles(folder).remove(KEY);
    expect(await contentOf(KEY)).toBeUndefined();
  });

  it("shows no incomplete file", async () => {
    let seen: string[] = [];
    async function* watched() {
      yield Buffer.from("half");
      await expect
        .poll(() => filesUnder(folder).map((path) => readFileSync(path, "utf8")))
        .toEqual(["half"]);
      seen = filesUnder(folder);
      yield Buffer.from("whole");
    }
    await createDiskFiles(folder).put(KEY, watched(), 100);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toContain(".drafts");
    expect(filesUnder(folder)).toEqual([join(folder, KEY)]);
  });

  it("accepts the allowed number of bytes, and stops reading after it", async () => {
    const files = createDiskFiles(folder);
    expect(await files.put(KEY, pieces("1234", "5"), 5)).toMatchObject({ size: 5 });
    let read = 0;
    let ended = false;
    async function* endless() {
      try {
        for (;;) {
          read += 1;
          yield Buffer.from("12");
        }
      } finally {
        ended = true;
      }
    }
    const other = `own/${ID.replace("1", "2")}`;
    await expect(files.put(other, endless(), 5)).rejects.toBeInstanceOf(FileTooLarge);
    expect([read, ended]).toEqual([3, true]);
    expect(filesUnder(folder)).toEqual([join(folder, KEY)]);
  });

  it("stores nothing of a stream that fails, and throws its error", async () => {
    async function* broken() {
      yield Buffer.from("half");
      throw new Error("cut off");
    }
    await expect(createDiskFiles(folder).put(KEY, broken(), 100)).rejects.toThrow("cut off");
    expect(filesUnder(folder)).toEqual([]);
    expect(await contentOf(KEY)).toBeUndefined();
  });

  verifies("C-51");
  it("refuses keys that could leave its folder", async () => {
    const files = createDiskFiles(folder);
    await writeFile(join(parent, "secret"), "secret");
    const keys = ["../secret", "..", ".", "", "own/../../secret", "/etc/passwd", "own//x", "own/"];
    keys.push("own/.", "own/..", ".drafts/x", "own\\..\\secret", "own/\0", "C:/x", "own/a.b");
    keys.push("own/%2e%2e", "OWN/x", "a/b/c/d/e", `own/${"x".repeat(65)}`, "own/x\n", "own/é");
    for (const key of keys) {
      await expect(files.put(key, pieces("x"), 10), key).rejects.toThrow("not a file's key");
      await expect(files.open(key), key).rejects.toThrow("not a file's key");
      await expect(files.remove(key), key).rejects.toThrow("not a file's key");
    }
    const list = (first: string) => listed(files, first);
    for (const first of ["..", "", "own/..", "."]) await expect(list(first)).rejects.toThrow();
    expect(readFileSync(join(parent, "secret"), "utf8")).toBe("secret");
    expect(readdirSync(parent)).toEqual(["secret"]);
  });

  it("lists the files of a first key part, without drafts", async () => {
    const files = createDiskFiles(folder);
    const keys = ["own/a", "own/b/c", "other/a"];
    for (const key of keys) await files.put(key, pieces(key), 100);
    mkdirSync(join(folder, ".drafts"), { recursive: true });
    await writeFile(join(folder, ".drafts", "left"), "x");
    expect(await listed(files, "own")).toEqual(["own/a", "own/b/c"]);
    expect(await listed(files, "other")).toEqual(["other/a"]);
    expect(await listed(files, "none")).toEqual([]);
  });

  it("reports an outage if its folder cannot be written", async () => {
    await writeFile(folder, "a file where the folder should be");
    const put = createDiskFiles(folder).put(KEY, pieces("x"), 10);
    await expect(put).rejects.toThrow();
    expect(readFileSync(folder, "utf8")).toContain("a file");
  });
});

describe("names to save a file under", () => {
  verifies("C-51");
  it("have one part, without misleading characters", () => {
    const any = fc.string({ unit: "binary", maxLength: 300 });
    fc.assert(
      fc.property(any, (written) => {
        const name = toSafeName(written, "document.pdf");
        expect(name).not.toMatch(/[/\\:\p{Cc}\u202e]|^\.|^\s*$/u);
        const header = formatDisposition(name);
        expect(header).toMatch(
          /^attachment; filename="[ -~]*"; filename\*=UTF-8''[\w.~!#$&+^`|%-]*$/,
        );
        const encoded = /UTF-8''(.*)$/.exec(header)?.[1] ?? "";
        expect(decodeURIComponent(encoded)).toBe(name);
        expect(new Headers({ "Content-Disposition": header }).get("content-disposition")).toBe(
          header,
        );
      }),
    );
  });

  verifies("C-51");
  it.each([
    ["invoice.pdf", "invoice.pdf"],
    ["../../etc/passwd", "passwd"],
    ["C:\\docs\\invoice.pdf", "invoice.pdf"],
    ["..", "other.pdf"],
    [".hidden.pdf", "hidden.pdf"],
    ["a\u202efdp.exe", "afdp.exe"],
    ["a\r\nSet-Cookie: x", "aSet-Cookie x"],
    ["e\u0301.pdf", "é.pdf"],
    ["", "other.pdf"],
    ["folder/", "other.pdf"],
  ])("%j is %j", (written, name) => {
    expect(toSafeName(written, "other.pdf")).toBe(name);
  });
});

onEveryStore("what crashes leave behind", (at) => {
  const age = (path: string, ms: number): void => {
    const moment = new Date(at().clock() - ms);
    utimesSync(path, moment, moment);
  };

  it("is swept after an hour, unless it has a record or belongs to another store", async () => {
    await at().tenant("swept");
    const call = await at().exportCaller("swept", ["ingest:read", "ingest:write"]);
    const connection = await connectionOf(at().store, "swept");
    await call("POST", `${DOCUMENTS}/D`, { body: invoice("D") });
    const headers = { "Content-Type": "application/pdf" };
    const sent = await call("POST", uploadPath(connection, "D"), { raw: pdf(), headers });
    expect(sent.status, sent.text).toBe(200);
    const [recorded = ""] = filesUnder(at().files);
    const files = createDiskFiles(at().files);
    const put = async (key: string): Promise<string> => {
      await files.put(key, pieces(key), 100);
      return join(at().files, key);
    };
    const elsewhere = "99999999-9999-4999-8999-999999999999";
    const made = {
      recorded,
      orphan: await put(`${connection}/orphan`),
      young: await put(`${connection}/young`),
      foreign: await put(`${elsewhere}/foreign`),
      draft: join(at().files, ".drafts", "old"),
      writing: join(at().files, ".drafts", "young"),
    };
    await writeFile(made.draft, "%PDF-");
    await writeFile(made.writing, "%PDF-");
    for (const path of Object.values(made)) age(path, 2 * HOUR);
    for (const path of [made.young, made.writing]) age(path, HOUR / 2);
    expect(await at().platform.sweep()).toEqual({ unfinished: 1, unknown: 1 });
    const { recorded: one, young, foreign, writing } = made;
    expect(filesUnder(at().files).toSorted()).toEqual([one, young, foreign, writing].toSorted());
    expect(await at().platform.sweep()).toEqual({ unfinished: 0, unknown: 0 });
    at().clock.advance(HOUR);
    expect(await at().platform.sweep()).toEqual({ unfinished: 1, unknown: 1 });
    expect(filesUnder(at().files).toSorted()).toEqual([one, foreign].toSorted());
  });

  it("is swept in any number", async () => {
    await at().tenant("swept-much");
    const connection = await connectionOf(at().store, "swept-much");
    const folder = join(at().files, connection);
    mkdirSync(folder, { recursive: true });
    for (let number = 0; number < 1203; number += 1) {
      const path = join(folder, `orphan-${number}`);
      await writeFile(path, "x");
      age(path, 2 * HOUR);
    }
    expect(await at().platform.sweep()).toEqual({ unfinished: 0, unknown: 1203 });
    expect(readdirSync(folder)).toEqual([]);
  });
});
