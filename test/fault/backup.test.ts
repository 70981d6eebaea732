import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { restoreBackup } from "../../src/platform/admin/backup/restore.ts";
import { getDataPaths } from "../../src/config/folder.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { deriveMasterKey } from "../../src/kit/master-key.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { STORE_ID_KEY } from "../../src/platform/files/identity.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { CLI, type Running, runCli, startCli, whenReady } from "../support/cli.ts";
import { connectionOf, filesUnder } from "../support/pdf.ts";
import { startPdfLoad } from "../support/pdf-load.ts";
import { signingIn } from "../support/signing.ts";
import { verifies } from "../support/verifies.ts";

const KEY = "b7e151628aed2a6a".repeat(4);
const BACKUPS = 3;
const LIMITS = { RECEIVABLES_RATE_MINUTE: "0", RECEIVABLES_RATE_HOUR: "0" };

let folder: string;
let data: string;
let running: Running | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "backup-"));
  data = join(folder, "data");
});
afterEach(async () => {
  await running?.end("SIGTERM");
  await rm(folder, { recursive: true, maxRetries: 3 });
});

const withData = (path: string) => ({ RECEIVABLES_DATA: path, ...LIMITS });

/** Creates a tenant with an export key under the test's master key. */
const fill = async () => {
  await mkdir(data, { mode: 0o700 });
  await writeFile(join(data, "secret.key"), KEY, { mode: 0o600 });
  const store = await openSqlite(join(data, "receivables.db"), signingIn(data));
  const needs = { store, clock: systemClock, newId: randomId };
  await createTenant(needs, { tenantId: "acme", name: "Acme" });
  const { apiKey: key } = await issueKey(needs, { tenantId: "acme", name: "test" });
  const connection = await connectionOf(store, "acme");
  await store.close();
  return { key, connection };
};

const start = async (path: string): Promise<string> => {
  running = startCli(["platform", "--port", "0"], withData(path));
  return (await whenReady(running)).extBaseUrl;
};

const tablesOf = (database: DatabaseSync): string[] =>
  database
    .prepare(
      "select name from sqlite_master where type = 'table' and sql not like 'create virtual%'",
    )
    .all()
    .map(({ name }) => String(name));

/** Counts the rows of every table. */
const countRows = (path: string): Record<string, number> => {
  const database = new DatabaseSync(join(path, "receivables.db"), { readOnly: true });
  const counts = tablesOf(database).map((name) => {
    const row = database.prepare(`select count(*) as rows from "${name}"`).get();
    return [name, Number(row?.["rows"])];
  });
  database.close();
  return Object.fromEntries(counts) as Record<string, number>;
};

/** The hashes of the files that the database's rows refer to, as recorded and as read. */
const hashFiles = async (path: string) => {
  const database = new DatabaseSync(join(path, "receivables.db"), { readOnly: true });
  const rows = database.prepare("select file_key, sha256 from document_attachments").all();
  database.close();
  return Promise.all(
    rows.map(async ({ file_key, sha256 }) => {
      const bytes = await readFile(join(path, "files", String(file_key)));
      return [String(sha256), createHash("sha256").update(bytes).digest("hex")];
    }),
  );
};

const restoreTo = async (name: string, backup: string): Promise<string> => {
  const target = join(folder, name);
  await mkdir(target, { mode: 0o700 });
  await writeFile(join(target, "secret.key"), KEY, { mode: 0o600 });
  const restored = await runCli(["admin", "restore", backup], withData(target));
  expect(restored, restored.stderr).toMatchObject({ status: 0 });
  return target;
};

describe("a backup of the embedded store", () => {
  verifies("OP-40", "C-20");
  it("is complete under load, and restores equal", { timeout: 300_000 }, async () => {
    const tenant = await fill();
    const load = await startPdfLoad(await start(data), { ...tenant, clients: 3 }, false);
    for (let number = 1; number <= BACKUPS; number += 1) {
      const made = await runCli(["admin", "backup", join(folder, `b${number}`)], withData(data));
      expect(made, made.stderr).toMatchObject({ status: 0 });
      expect(JSON.parse(made.stdout)).toMatchObject({ tenants: 1, missing: 0 });
    }
    expect(await load.end()).toBeGreaterThan(BACKUPS);
    const counts = countRows(data);
    const last = await runCli(["admin", "backup", join(folder, "last")], withData(data));
    expect(last.status, last.stderr).toBe(0);
    await running?.end("SIGTERM");
    for (const name of ["b1", "b2", "b3", "last"]) {
      const target = await restoreTo(`restored-${name}`, join(folder, name));
      const hashes = await hashFiles(target);
      expect(hashes.length).toBeGreaterThan(0);
      expect(hashes.filter(([recorded, read]) => recorded !== read)).toEqual([]);
      const verdict = await runCli(["admin", "audit", "verify", "acme"], withData(target));
      expect(verdict.status, verdict.stderr).toBe(0);
    }
    const target = join(folder, "restored-last");
    expect(countRows(target)).toEqual(counts);
    expect(await hashFiles(target)).toEqual(await hashFiles(data));
    const url = await start(target);
    const listed = await fetch(`${url}/api/v1/ingest/documents`, {
      headers: { "X-API-Key": tenant.key },
    });
    expect(listed.status).toBe(200);
  });

  verifies("OP-40");
  it("is refused where it would overwrite, and restored only whole and with its key", async () => {
    await fill();
    const backup = join(folder, "backup");
    const environment = withData(data);
    expect((await runCli(["admin", "backup", backup], environment)).status).toBe(0);
    const again = await runCli(["admin", "backup", backup], environment);
    expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining("not empty") });
    const taken = await runCli(["admin", "restore", backup], environment);
    expect(taken).toMatchObject({ status: 1, stderr: expect.stringContaining("has tenants") });
    expect(await readdir(backup)).not.toContain("secret.key");
    const empty = join(folder, "empty");
    const keyless = await runCli(["admin", "restore", backup], withData(empty));
    expect(keyless.stderr).toContain("does not contain the master key");
    const wrong = { ...withData(empty), RECEIVABLES_SECRET_KEY: KEY.replaceAll("b", "c") };
    const foreign = await runCli(["admin", "restore", backup], wrong);
    expect(foreign.stderr).toContain("another master key");
    const right = { ...withData(empty), RECEIVABLES_SECRET_KEY: KEY };
    await appendFile(join(backup, "receivables.db"), "x");
    const changed = await runCli(["admin", "restore", backup], right);
    expect(changed.stderr).toContain("receivables.db was changed");
    await rm(join(backup, "manifest.ndjson"));
    const half = await runCli(["admin", "restore", backup], right);
    expect(half.stderr).toContain("no complete backup");
    expect(existsSync(join(empty, "receivables.db"))).toBe(false);
  });

  verifies("OP-40");
  it("is not restored over a store that a program has opened meanwhile", async () => {
    await fill();
    await createDiskFiles(join(data, "files")).put(STORE_ID_KEY, [Buffer.from("id")], 10);
    const backup = join(folder, "backup");
    expect((await runCli(["admin", "backup", backup], withData(data))).status).toBe(0);
    const target = join(folder, "target");
    const disk = createDiskFiles(join(target, "files"));
    let store: Store | undefined;
    const files: typeof disk = {
      ...disk,
      async put(...file) {
        store = await openSqlite(join(target, "receivables.db"), signingIn(target));
        return disk.put(...file);
      },
    };
    const masterKey = await deriveMasterKey(KEY);
    const paths = getDataPaths(target);
    await expect(
      restoreBackup({ folder: backup, paths, files, masterKey, hasTenants: false }),
    ).rejects.toThrow("is in use");
    await store?.close();
  });

  /** Runs a command that cannot write files beyond 64 blocks of 1 KiB, as on a full disk; returns its exit status. */
  const runOnFullDisk = async (args: string[], env: Record<string, string>) => {
    const line = `ulimit -f 64; exec "$0" "$@"`;
    const child = spawn("bash", ["-c", line, process.execPath, CLI, "admin", ...args], {
      env: { ...process.env, ...env, NODE_DISABLE_COMPILE_CACHE: "1" },
      stdio: "ignore",
    });
    const [status] = (await once(child, "close")) as [number | null];
    return status;
  };

  verifies("OP-40");
  it("leaves nothing behind where the disk is full", async () => {
    await fill();
    const backup = join(folder, "backup");
    expect(await runOnFullDisk(["backup", backup], withData(data))).toBe(1);
    expect(filesUnder(backup)).toEqual([]);
  });

  verifies("OP-40");
  it("leaves no half files behind where its restore fails or is killed, and restores then", async () => {
    await fill();
    const backup = join(folder, "backup");
    expect((await runCli(["admin", "backup", backup], withData(data))).status).toBe(0);
    const target = { ...withData(join(folder, "target")), RECEIVABLES_SECRET_KEY: KEY };
    const written = () =>
      filesUnder(target.RECEIVABLES_DATA).filter((path) => !path.endsWith("store/id"));
    expect(await runOnFullDisk(["restore", backup], target)).toBe(1);
    expect(written()).toEqual([]);
    const drafts = join(target.RECEIVABLES_DATA, "restoring");
    await mkdir(drafts);
    await writeFile(join(drafts, "half"), "of a restore that was killed");
    const restored = await runCli(["admin", "restore", backup], target);
    expect(restored.status, restored.stderr).toBe(0);
    expect(written()).toEqual([join(target.RECEIVABLES_DATA, "receivables.db")]);
  });
});
