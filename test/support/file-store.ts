import { createHash, randomBytes } from "node:crypto";
import { buffer, text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FileStore, FileTooLarge } from "../../src/platform/files/port.ts";
import { verifies } from "./verifies.ts";

/** A file store under test, empty at first. */
export type OpenedFiles = {
  files: FileStore;
  /** Everything that is stored, unfinished uploads included. */
  stored(): Promise<string[]>;
  close(): Promise<void>;
};

const ID = "00000000-0000-4000-8000-000000000001";
const KEY = `own/${ID}`;
const MIB = 1024 * 1024;

export async function* pieces(...all: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of all) yield Buffer.from(piece);
}

export const listKeys = async (files: FileStore, first: string): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of files.list(first)) keys.push(key);
  return keys.toSorted();
};

export const readText = async (files: FileStore, key: string): Promise<string | undefined> => {
  const file = await files.open(key);
  return file && text(file.bytes);
};

/** The rules that every file store keeps. */
export const describeFileStore = (name: string, open: () => Promise<OpenedFiles>): void => {
  describe(`a file store ${name}`, () => {
    let opened: OpenedFiles;
    let files: FileStore;

    beforeEach(async () => {
      opened = await open();
      ({ files } = opened);
    });
    afterEach(() => opened.close());

    verifies("OP-21");
    it("stores a whole stream, and returns its size and hash", async () => {
      const kept = await files.put(KEY, pieces("one, ", "two"), 100);
      const sha256 = createHash("sha256").update("one, two").digest("hex");
      expect(kept).toEqual({ size: 8, sha256 });
      expect(await readText(files, KEY)).toBe("one, two");
      const unread = await files.open(KEY);
      expect(unread?.size).toBe(8);
      await unread?.bytes.cancel();
      expect(await opened.stored()).toEqual([KEY]);
      await files.put("own/empty", pieces(), 100);
      expect(await readText(files, "own/empty")).toBe("");
      await files.remove("own/empty");
      await files.remove(KEY);
      await files.remove(KEY);
      expect(await readText(files, KEY)).toBeUndefined();
      expect(await opened.stored()).toEqual([]);
    });

    it("stores a file of many megabytes as it arrives", async () => {
      const parts = Array.from({ length: 23 }, () => randomBytes(MIB / 2 + 7));
      const whole = Buffer.concat(parts);
      const kept = await files.put(KEY, pieces(...parts), whole.length);
      const sha256 = createHash("sha256").update(whole).digest("hex");
      expect(kept).toEqual({ size: whole.length, sha256 });
      const file = await files.open(KEY);
      if (file === undefined) throw new Error("the file is missing");
      expect(file.size).toBe(whole.length);
      expect((await buffer(file.bytes)).equals(whole)).toBe(true);
      expect(await opened.stored()).toEqual([KEY]);
    });

    it("opens a span of a file", async () => {
      await files.put(KEY, pieces("0123456789"), 10);
      const spanOf = async (from: number, to: number) => {
        const file = await files.open(KEY, { from, to });
        return file && [file.size, await text(file.bytes)];
      };
      expect(await spanOf(0, 1)).toEqual([1, "0"]);
      expect(await spanOf(3, 10)).toEqual([7, "3456789"]);
      expect(await spanOf(0, 10)).toEqual([10, "0123456789"]);
      expect(await files.open("own/none", { from: 0, to: 1 })).toBeUndefined();
    });

    it("accepts the allowed number of bytes, and stops reading after it", async () => {
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
      expect(await opened.stored()).toEqual([KEY]);
    });

    it.each([1, 12])("stores nothing of a stream that fails after %i MiB", async (mib) => {
      async function* broken() {
        for (let number = 0; number < mib; number += 1) yield Buffer.alloc(MIB);
        throw new Error("cut off");
      }
      await expect(files.put(KEY, broken(), 100 * MIB)).rejects.toThrow("cut off");
      expect(await opened.stored()).toEqual([]);
      expect(await readText(files, KEY)).toBeUndefined();
    });

    verifies("C-51");
    it("refuses keys that are no keys", async () => {
      const keys = ["../secret", "..", ".", "", "own/../../secret", "/etc/passwd", "own//x"];
      keys.push("own/.", "own/..", ".drafts/x", "own\\..\\secret", "own/\0", "C:/x", "own/a.b");
      keys.push("own/%2e%2e", "OWN/x", "a/b/c/d/e", `own/${"x".repeat(65)}`, "own/x\n", "own/é");
      for (const key of [...keys, "own/"]) {
        await expect(files.put(key, pieces("x"), 10), key).rejects.toThrow("not a file's key");
        await expect(files.open(key), key).rejects.toThrow("not a file's key");
        await expect(files.remove(key), key).rejects.toThrow("not a file's key");
      }
      for (const first of ["..", "", "own/..", "."]) {
        await expect(listKeys(files, first)).rejects.toThrow("not a file's key");
      }
      expect(await opened.stored()).toEqual([]);
    });

    it("lists the files of a first key part, in any number", async () => {
      const keys = ["a", "b/c", "b/d", "c", "d/e", "f", "g"].map((key) => `own/${key}`);
      const began = Date.now();
      for (const key of [...keys, "other/a", "own-not/a"]) await files.put(key, pieces(key), 100);
      expect(await listKeys(files, "own")).toEqual(keys);
      expect(await listKeys(files, "other")).toEqual(["other/a"]);
      expect(await listKeys(files, "none")).toEqual([]);
      for await (const { at } of files.list("own")) {
        // Some services tell whole seconds.
        expect(at).toBeGreaterThan(began - 2000);
        expect(at).toBeLessThan(Date.now() + 2000);
      }
    });
  });
};
