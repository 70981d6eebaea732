import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { HOUR } from "../../src/kit/clock.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { formatDisposition, toSafeName } from "../../src/platform/files/name.ts";
import { connectionOf, DOCUMENTS, filesUnder, invoice, pdf, uploadPath } from "../support/pdf.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const ID = "00000000-0000-4000-8000-000000000001";
const KEY = `own/${ID}`;

async function* pieces(...all: string[]): AsyncGenerator<Uint8Array> {
  for (const piece of all) yield Buffer.from(piece);
}

describe("files on a disk", () => {
  let parent: string;
  let folder: string;

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), "receivables-files-"));
    folder = join(parent, "files");
  });

  it("are written beside the others until they are whole", async () => {
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

  verifies("C-51");
  it("never leave their folder", async () => {
    const files = createDiskFiles(folder);
    await writeFile(join(parent, "secret"), "secret");
    for (const key of ["../secret", "own/../../secret", "own\\..\\secret", "/etc/passwd"]) {
      await expect(files.put(key, pieces("x"), 10), key).rejects.toThrow("not a file's key");
      await expect(files.open(key), key).rejects.toThrow("not a file's key");
      await expect(files.remove(key), key).rejects.toThrow("not a file's key");
    }
    expect(readFileSync(join(parent, "secret"), "utf8")).toBe("secret");
    expect(readdirSync(parent)).toEqual(["secret"]);
  });

  it("are no drafts when listed", async () => {
    const files = createDiskFiles(folder);
    await files.put("own/a", pieces("a"), 100);
    mkdirSync(join(folder, ".drafts"), { recursive: true });
    await writeFile(join(folder, ".drafts", "left"), "x");
    const keys: string[] = [];
    for await (const { key } of files.list("own")) keys.push(key);
    expect(keys).toEqual(["own/a"]);
  });

  it("cannot be stored where the folder cannot be written", async () => {
    await writeFile(folder, "a file where the folder should be");
    const put = createDiskFiles(folder).put(KEY, pieces("x"), 10);
    await expect(put).rejects.toThrow();
    expect(readFileSync(folder, "utf8")).toContain("a file");
  });
});

verifies("C-51");
describe("names to save a file under", () => {
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
    expect(existsSync(folder)).toBe(false);
  });
});
