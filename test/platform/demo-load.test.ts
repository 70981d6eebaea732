import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { createDemo, ensureDemo } from "../../src/platform/demo/credentials.ts";
import { HOUR } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { hasTenant } from "../../src/platform/store/queries/tenants.ts";
import { filesUnder } from "../support/pdf.ts";
import { startPlatform, type TestPlatform } from "../support/platform.ts";
import { dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

/** Of documents, of disputes, and one of each completed run. */
const FILES = 40 + 60 + 3;

const needsOf = ({ store, clock, files }: TestPlatform) => ({
  store,
  clock,
  newId: randomId,
  files: createDiskFiles(files),
  masterKey: Buffer.alloc(32, 7),
  path: join(files, "..", "demo.sealed"),
});

for (const dialect of dialects) {
  verifies("OP-05", "C-45");
  it(`creates the demo tenant only where it may and no other tenant is (${dialect.name})`, async () => {
    const running = await startPlatform(dialect);
    const needs = needsOf(running);
    expect(await ensureDemo(needs, false)).toBeUndefined();
    expect(await hasTenant(running.store.read)).toBe(false);
    await createTenant(needs, { tenantId: "acme", name: "Acme" });
    expect(await ensureDemo(needs, true)).toBeUndefined();
    expect(await createDemo(needs)).toMatchObject({ tenantId: "demo", credentials: needs.path });
    const credentials = await ensureDemo(needs, false);
    expect(credentials?.email).toBe("agent@demo-manufacturing.example");
    expect(credentials?.password.reveal()).toMatch(/^[\w-]{43}$/);
    await expect(createDemo(needs)).rejects.toMatchObject({ code: "conflict" });
    await running.close();
  });
}

/** Loads the demo tenant; with a third argument it dies before it is through. */
const LOADER = `
  import { randomUUID } from "node:crypto";
  import { createDiskFiles } from "./src/platform/files/disk.ts";
  import { loadDemo } from "./src/platform/demo/load.ts";
  import { openSqlite } from "./src/platform/store/sqlite/open.ts";
  const [, path, folder, dies] = process.argv;
  const signing = { masterKey: async () => Buffer.alloc(32, 7), clock: Date.now, newId: randomUUID };
  const store = await openSqlite(path, signing);
  const files = createDiskFiles(folder);
  const credentials = async () => {
    if (dies) process.kill(process.pid, "SIGKILL");
  };
  const loaded = await loadDemo({ store, files, clock: Date.now, newId: randomUUID, credentials });
  const { n } = await store.read.selectFrom("disputes")
    .select((eb) => eb.fn.countAll().as("n")).executeTakeFirstOrThrow();
  await store.close();
  console.log(JSON.stringify([loaded, Number(n)]));
`;

const load = async (...args: string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--input-type=module",
    "--eval",
    LOADER,
    ...args,
  ]);
  return stdout.trim();
};

// Three whole programs start here, on a machine that may have other work.
const CHILDREN_MS = 180_000;

it(
  "loads the demo tenant once when several processes start at the same time",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "receivables-demo-"));
    const [path, files] = [join(folder, "platform.db"), join(folder, "files")];
    const said = await Promise.all([1, 2, 3].map(() => load(path, files)));
    rmSync(folder, { recursive: true });
    expect(new Set(said)).toEqual(new Set(["[true,300]", "[false,300]"]));
    expect(said.filter((line) => line === "[true,300]")).toHaveLength(1);
  },
  CHILDREN_MS,
);

it(
  "is loaded completely after a process died while loading it, whose files are swept",
  async () => {
    const running = await startPlatform();
    const path = join(running.files, "..", "receivables.db");
    await expect(load(path, running.files, "dies")).rejects.toMatchObject({ signal: "SIGKILL" });
    expect(filesUnder(running.files)).toHaveLength(FILES);
    expect(await load(path, running.files)).toBe("[true,300]");
    expect(filesUnder(running.files)).toHaveLength(2 * FILES);
    running.clock.set(new Date(Date.now() + 2 * HOUR).toISOString());
    await running.platform.worker.runDue();
    expect(await running.platform.sweep()).toEqual({ unfinished: 0, unknown: 0 });
    expect(filesUnder(running.files)).toHaveLength(FILES);
    await running.close();
  },
  CHILDREN_MS,
);
