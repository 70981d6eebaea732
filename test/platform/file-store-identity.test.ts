import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { randomId } from "../../src/kit/ids.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { adoptFileStore, checkFileStore, readStoreId } from "../../src/platform/files/identity.ts";
import type { FileStore } from "../../src/platform/files/port.ts";
import { type Store, StoreUnavailable } from "../../src/platform/store/port.ts";
import { type Database, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

describe.each(dialects)("the file store of a database ($name)", ({ createMigrated }) => {
  let database: Database;
  let store: Store;
  let parent: string;

  beforeEach(async () => {
    database = await createMigrated();
    store = await database.open();
    parent = mkdtempSync(join(tmpdir(), "receivables-identity-"));
  });
  afterEach(async () => {
    await store.close();
    await database.remove();
    rmSync(parent, { recursive: true, force: true });
  });

  const at = (name: string): FileStore => createDiskFiles(join(parent, name));

  const check = (name: string, files = at(name)) =>
    checkFileStore({ store, files, newId: randomId }, name);

  const adopt = (name: string) => adoptFileStore({ store, files: at(name), newId: randomId }, name);

  verifies("OP-21");
  it("is the one of its first start; another one is refused with both ids", async () => {
    await check("first");
    await check("first");
    const id = await readStoreId(at("first"));
    const lacking = `The database's files are in the file store with the id ${id}, but other has no id.`;
    await expect(check("other")).rejects.toThrow(lacking);
    expect(await readStoreId(at("other"))).toBeUndefined();
    await at("other").put("store/id", [Buffer.from("other-id")].values() as never, 100);
    await expect(check("other")).rejects.toThrow(/but other has the id other-id\. Set RECEIVABLES/);
    await check("first");
  });

  verifies("OP-21");
  it("gets one id from many nodes that start at once", async () => {
    await Promise.all(Array.from({ length: 8 }, () => check("shared")));
    const id = await readStoreId(at("shared"));
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    await check("shared");
    expect(await readStoreId(at("shared"))).toBe(id);
  });

  it("gets its id at the next start if the first one ends before it is written", async () => {
    const broken: FileStore = {
      ...at("first"),
      put: () => Promise.reject(new StoreUnavailable(new Error("down"))),
    };
    await expect(check("first", broken)).rejects.toThrow("down");
    await check("first");
    rmSync(join(parent, "first"), { recursive: true });
    await expect(check("first")).rejects.toThrow("first has no id");
  });

  it("keeps the id that it has for another database", async () => {
    await at("first").put("store/id", [Buffer.from("known")].values() as never, 100);
    await check("first");
    expect(await readStoreId(at("first"))).toBe("known");
  });

  verifies("OP-21");
  it("is another one once that is adopted, and then the first one is refused", async () => {
    await check("first");
    cpSync(join(parent, "first"), join(parent, "copy"), { recursive: true });
    const { id } = await adopt("copy");
    expect(await readStoreId(at("copy"))).toBe(id);
    await check("copy");
    await expect(check("first")).rejects.toThrow(`with the id ${id}`);
    expect(await adopt("first")).toMatchObject({ id: await readStoreId(at("first")), files: 0 });
    await check("first");
  });
});
