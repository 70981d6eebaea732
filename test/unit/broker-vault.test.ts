import { mkdtemp, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { createVault } from "../../src/broker/vault.ts";
import { createFileOnce } from "../../src/kit/once.ts";
import { verifies } from "../support/verifies.ts";

const CANARY = "rcvg_canary-value";
const masterKey = async () => Buffer.alloc(32, 7);
const entry = { kind: "api-key", keyId: "0b1c", tenantId: "t", value: CANARY } as const;

let folder: string;
const vault = (key = masterKey) => createVault({ folder: join(folder, "secrets"), masterKey: key });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "vault-"));
});

const files = async () => readdir(join(folder, "secrets"));

verifies("D-MCP-4");
it("stores, lists, shows and removes a secret", async () => {
  const name = await vault().put(entry);
  expect(name).toBe("api-key-0b1c");
  const [listed] = await vault().list();
  expect(listed).toMatchObject({ name, kind: "api-key", keyId: "0b1c" });
  expect(JSON.stringify(listed)).not.toContain(CANARY);
  expect(await vault().show(name)).toBe(CANARY);
  expect(await vault().remove(name)).toBe(true);
  expect(await vault().remove(name)).toBe(false);
  expect(await vault().show(name)).toBeUndefined();
  expect(await files()).toEqual([]);
});

verifies("D-MCP-4");
it("stores the secret of a webhook under a distinct name", async () => {
  const name = await vault().put({ ...entry, kind: "webhook-secret" });
  expect(name).toBe("webhook-secret-0b1c");
  expect(await vault().list()).toMatchObject([{ name, kind: "webhook-secret", keyId: "0b1c" }]);
  expect(await vault().show(name)).toBe(CANARY);
});

verifies("C-38");
it("stores nothing in clear text, and nothing that others can read", async () => {
  await vault().put(entry);
  const [file = ""] = await files();
  const path = join(folder, "secrets", file);
  expect(await readFile(path, "utf8")).not.toMatch(/canary/);
  expect(Buffer.from(await readFile(path, "utf8"), "base64url").toString()).not.toMatch(/canary/);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, "secrets"))).mode & 0o777).toBe(0o700);
});

it("does not open with another master key, after a change, or under another name", async () => {
  const name = await vault().put(entry);
  const other = vault(async () => Buffer.alloc(32, 8));
  expect(await other.show(name)).toBeUndefined();
  expect(await other.list()).toEqual([]);
  const path = join(folder, "secrets", `${name}.sealed`);
  await rename(path, join(folder, "secrets", "api-key-else.sealed"));
  expect(await vault().show("api-key-else")).toBeUndefined();
  await writeFile(path, "not sealed");
  expect(await vault().show(name)).toBeUndefined();
});

verifies("C-51");
it.each(["../secret.key", "a/b", "", ".", "..", "x\0y", "A".repeat(300)])(
  "takes %j for no name",
  async (name) => {
    expect(await vault().show(name)).toBeUndefined();
    expect(await vault().remove(name)).toBe(false);
  },
);

verifies("C-51");
it("makes a safe and distinct name of every id that the platform gives", async () => {
  const evil = await vault().put({ ...entry, keyId: "../../evil", value: "one" });
  const again = await vault().put({ ...entry, keyId: "../../evil", value: "two" });
  expect(evil).toMatch(/^api-key-[0-9a-f]{32}$/);
  expect([await vault().show(evil), await vault().show(again)]).toEqual(["one", "two"]);
  expect(await files()).toHaveLength(2);
});

it("is empty before its first use", async () => {
  expect(await vault().list()).toEqual([]);
});

it("lets exactly one of many concurrent writers create a file", async () => {
  const path = join(folder, "deep", "once");
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, index) => createFileOnce(path, `content ${index}`)),
  );
  expect(all.filter(Boolean)).toHaveLength(1);
  expect(await readFile(path, "utf8")).toBe(`content ${all.indexOf(true)}`);
  expect(await readdir(join(folder, "deep"))).toEqual(["once"]);
});
