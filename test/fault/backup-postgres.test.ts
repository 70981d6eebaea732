import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { CLI, runCli, startCli, whenReady } from "../support/cli.ts";
import { POSTGRES_TOOLS, startDebianPostgres } from "../support/debian-postgres.ts";
import { connectionOf } from "../support/pdf.ts";
import { startPdfLoad } from "../support/pdf-load.ts";
import { signingIn } from "../support/signing.ts";
import { ROOT } from "../support/sources.ts";
import { verifies } from "../support/verifies.ts";

const KEY = "9216d5d98979fb1b".repeat(4);
const LIMITS = { RECEIVABLES_RATE_MINUTE: "0", RECEIVABLES_RATE_HOUR: "0" };

let folder: string;
let server: Awaited<ReturnType<typeof startDebianPostgres>>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "backup-postgres-"));
});
afterEach(() => rm(folder, { recursive: true, maxRetries: 3 }));

/** Returns the commands of the manual's block that has a word. */
const readBlock = async (word: string): Promise<string> => {
  const manual = await readFile(join(ROOT, "docs/operations.md"), "utf8");
  const blocks = [...manual.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = ""]) => block);
  const found = blocks.find((block) => block.includes(word));
  if (found === undefined) throw new Error(`no block has ${word}`);
  return found;
};

/** Runs a block as an operator would, with the tools of the server's version. */
const runBlock = async (block: string, env: Record<string, string>): Promise<void> => {
  const program = `receivables-mcp() { "${process.execPath}" "${CLI}" "$@"; }`;
  const child = spawn("bash", ["-euc", `${program}\n${block}`], {
    cwd: folder,
    env: { PATH: `${POSTGRES_TOOLS}:${process.env["PATH"]}`, RECEIVABLES_KEYCHAIN: "off", ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [errors, [status]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect(status, errors).toBe(0);
};

const query = async <Row extends object>(url: string, sql: string): Promise<Row[]> => {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
};

const countRows = async (url: string) => {
  const tables = await query<{ name: string }>(
    url,
    "select table_name as name from information_schema.tables where table_schema = 'public' order by 1",
  );
  const counts = tables.map(
    ({ name }) => `select '${name}' as name, count(*)::int as rows from "${name}"`,
  );
  return query(url, `${counts.join(" union all ")} order by name`);
};

/** The recorded and the real hashes of all files of the database. */
const hashFiles = async (url: string, files: string) => {
  const rows = await query<{ file_key: string; sha256: string }>(
    url,
    "select file_key, sha256 from document_attachments order by file_key",
  );
  return Promise.all(
    rows.map(async ({ file_key, sha256 }) => {
      const bytes = await readFile(join(files, file_key));
      return { recorded: sha256, read: createHash("sha256").update(bytes).digest("hex") };
    }),
  );
};

describe.skipIf(POSTGRES_TOOLS === undefined)("the manual's backup of PostgreSQL", () => {
  beforeEach(async () => {
    server = await startDebianPostgres(POSTGRES_TOOLS ?? "");
  });
  afterEach(() => server.stop());

  const placeOf = async (name: string) => {
    server.create(name);
    const data = join(folder, name);
    await mkdir(data, { mode: 0o700 });
    await writeFile(join(data, "secret.key"), KEY, { mode: 0o600 });
    const files = join(folder, `${name}-files`);
    const env = {
      ...LIMITS,
      RECEIVABLES_DATA: data,
      RECEIVABLES_FILES_URL: files,
      DATABASE_URL: server.urlOf(name),
    };
    return { data, files, env, url: env.DATABASE_URL };
  };

  verifies("OP-40", "C-20");
  it("is complete under load, and restores equal", { timeout: 300_000 }, async () => {
    const place = await placeOf("live");
    const store = await openPostgres(place.url, signingIn(place.data));
    const needs = { store, clock: systemClock, newId: randomId };
    await createTenant(needs, { tenantId: "acme", name: "Acme" });
    const { apiKey: key } = await issueKey(needs, { tenantId: "acme", name: "test" });
    const connection = await connectionOf(store, "acme");
    await store.close();
    const running = startCli(["platform", "--port", "0"], place.env);
    const { extBaseUrl } = await whenReady(running);
    const load = await startPdfLoad(extBaseUrl, { key, connection, clients: 3 }, true);
    const [save, restore] = [await readBlock("pg_dump"), await readBlock("pg_restore")];
    const envOf = (backup: string, { env, files }: typeof place) => ({
      ...env,
      FILES: files,
      BACKUP: backup,
      TENANT: "acme",
    });
    const busy = join(folder, "busy");
    const calm = join(folder, "calm");
    for (const backup of [busy, calm]) await mkdir(backup);
    await runBlock(save, envOf(busy, place));
    expect(await load.end()).toBeGreaterThan(0);
    await running.end("SIGTERM");
    await runBlock(save, envOf(calm, place));
    for (const backup of [busy, calm]) {
      const target = await placeOf(backup === busy ? "from_busy" : "from_calm");
      await runBlock(restore, envOf(backup, target));
      const hashes = await hashFiles(target.url, target.files);
      expect(hashes.length).toBeGreaterThan(0);
      expect(hashes.filter(({ recorded, read }) => recorded !== read)).toEqual([]);
      const verdict = await runCli(["admin", "audit", "verify", "acme"], target.env);
      expect(verdict.status, verdict.stderr).toBe(0);
      if (backup !== calm) continue;
      expect(await countRows(target.url)).toEqual(await countRows(place.url));
      expect(hashes).toEqual(await hashFiles(place.url, place.files));
    }
  });
});
