import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createVault } from "../../src/broker/vault.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { connectStdio, runCli, startCli, whenReady } from "../support/cli.ts";
import { administer } from "../support/postgres.ts";
import { type Database, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

type Check = { check: string; ok: boolean; found: string; hint?: string };

/** Each file below a folder with its content, but for the memory in which readers of SQLite register. */
const filesIn = (folder: string): string[] =>
  !existsSync(folder)
    ? []
    : readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((name) => !name.endsWith("-shm") && statSync(join(folder, name)).isFile())
        .map((name) => {
          const hash = createHash("sha256").update(readFileSync(join(folder, name)));
          return `${name} ${hash.digest("hex")}`;
        })
        .toSorted();

describe.each(dialects)("doctor on the store of a platform ($name)", (dialect) => {
  let database: Database;

  beforeEach(async () => {
    database = await dialect.create();
  });
  afterEach(() => database.remove());

  const folder = () => database.environment["RECEIVABLES_DATA"] ?? "";

  const doctor = async (settings: Record<string, string> = {}, args: string[] = []) => {
    const before = filesIn(folder());
    const env = { ...database.environment, ...settings };
    const { status, stdout, stderr } = await runCli(["doctor", ...args], env);
    expect(filesIn(folder())).toEqual(before);
    const { checks } = JSON.parse(stdout) as { checks: Check[] };
    const of = (name: string): Check | undefined => checks.find(({ check }) => check === name);
    const faults = checks.filter(({ ok }) => !ok).map(({ check }) => check);
    return { status, stderr, of, faults };
  };

  const migrated = async (): Promise<void> => {
    const store = await database.open();
    const needs = { store, clock: systemClock, newId: randomId };
    await createTenant(needs, { tenantId: "acme", name: "Acme" });
    await store.close();
  };

  verifies("OP-06");
  it("creates nothing where there is nothing yet", async () => {
    const { status, faults, of } = await doctor();
    expect([status, faults]).toEqual([0, []]);
    expect(of("store")?.found).toContain("is empty");
    expect(of("master_key")?.found).toContain("created at the first start");
    expect(of("file_store")?.found).toContain("created at the first start");
    const again = await doctor();
    expect(again.of("store")?.found).toContain("is empty");
  });

  verifies("OP-06");
  it.runIf(dialect.name === "postgres")("names the right to create tables", async () => {
    const { DATABASE_URL: own = "" } = database.environment;
    const url = new URL(own);
    const role = `no_owner_of_${url.pathname.slice(1)}`;
    await administer(own, `create role ${role} login password 'x'`);
    [url.username, url.password] = [role, "x"];
    const { faults, of } = await doctor({ DATABASE_URL: url.href });
    const env = { ...database.environment, DATABASE_URL: url.href };
    const started = await runCli(["platform", "--port", "0"], env);
    await administer(own, `drop role ${role}`);
    expect([faults, of("store")?.found]).toEqual([["store"], expect.stringContaining("owner")]);
    expect(of("clock")?.found).toContain("of the database");
    expect([started.status, started.stderr]).toEqual([1, expect.stringContaining("owner")]);
  });

  verifies("OP-06");
  it("changes nothing in a store, and checks the master key against it", async () => {
    await migrated();
    const { status, faults, of } = await doctor();
    expect([status, faults]).toEqual([0, []]);
    expect(of("store")?.found).toContain("up to date");
    expect(of("master_key")?.found).toContain("signed with");
    const other = await doctor({ RECEIVABLES_SECRET_KEY: "0123456789abcdef".repeat(4) });
    expect([other.status, other.faults]).toEqual([1, ["master_key"]]);
    expect(other.of("master_key")?.hint).toContain("RECEIVABLES_SECRET_KEY");
    const store = await database.open();
    const tenants = await store.read.selectFrom("tenants").select("id").execute();
    await store.close();
    expect(tenants).toEqual([{ id: "acme" }]);
  });

  verifies("OP-06", "OP-41");
  it("names sealed files that the master key does not open, and a server with that key does not start", async () => {
    await migrated();
    const secrets = join(folder(), "secrets");
    const vault = createVault({ folder: secrets, masterKey: async () => Buffer.alloc(32, 7) });
    await vault.put({ kind: "api-key", keyId: "k", tenantId: "acme", value: "hidden" });
    const { status, of, faults } = await doctor();
    expect([status, faults]).toEqual([1, ["sealed_files"]]);
    expect(of("sealed_files")?.found).toContain(secrets);
    for (const command of ["platform", "http"]) {
      const refused = await runCli([command, "--port", "0"], database.environment);
      expect(refused.status).toBe(1);
      expect(refused.stderr).toContain(secrets);
      expect(refused.stderr).toContain("RECEIVABLES_SECRET_KEY");
    }
  });

  verifies("OP-06", "OP-41");
  it("names a missing master key, and an MCP server on stdio does not replace it", async () => {
    await migrated();
    const path = join(folder(), "secret.key");
    rmSync(path);
    const client = await connectStdio(database.environment);
    const refused = await client.callTool({ name: "disputes_list", arguments: {} });
    await client.close();
    expect(JSON.stringify(refused.content)).toContain("The master key is missing");
    expect(existsSync(path)).toBe(false);
    const { status, of } = await doctor();
    expect(status).toBe(1);
    expect(of("master_key")?.found).toContain("The master key is missing");
  });

  verifies("OP-06", "OP-41");
  it("names a master key that others may read, and servers warn of it", async () => {
    await migrated();
    const path = join(folder(), "secret.key");
    chmodSync(path, 0o640);
    const { status, of, faults } = await doctor();
    expect([status, faults]).toEqual([1, ["key_file"]]);
    expect(of("key_file")?.hint).toBe(`Run: chmod 600 ${path}`);
    const key = { RECEIVABLES_SECRET_KEY: readFileSync(path, "utf8").trim() };
    expect((await doctor(key)).faults).toEqual([]);
    for (const command of ["platform", "http"]) {
      const server = startCli([command, "--port", "0"], database.environment);
      await whenReady(server);
      await server.end("SIGTERM");
      const warnings = server.texts.stderr.split("\n").filter((line) => line.includes("warn"));
      expect(warnings.map((line) => JSON.parse(line))).toMatchObject([
        { event: "master_key.open", path, hint: `chmod 600 ${path}` },
      ]);
    }
  });

  verifies("OP-06", "OP-41");
  it.skipIf(dialect.name === "sqlite")(
    "an MCP server with the platform's database needs its master key",
    async () => {
      await migrated();
      const remote = {
        RECEIVABLES_BASE_URL: "http://127.0.0.1:9",
        RECEIVABLES_HTTP_AUTH: "builtin",
      };
      expect((await doctor(remote)).of("shared_store")).toMatchObject({ ok: true });
      const other = { ...remote, RECEIVABLES_SECRET_KEY: "0123456789abcdef".repeat(4) };
      expect((await doctor(other)).of("shared_store")).toMatchObject({
        ok: false,
        found: expect.stringContaining("another master key"),
      });
      const env = { ...database.environment, ...other };
      const refused = await runCli(["http", "--port", "0"], env);
      expect([refused.status, refused.stdout]).toEqual([1, ""]);
      expect(refused.stderr).toContain("another master key");
    },
  );

  verifies("OP-06");
  it("names a file of the data folder that cannot be read, among the other checks", async () => {
    await migrated();
    // Rights do not stop root, a folder in place of a file does.
    mkdirSync(join(folder(), "profiles", "default.sealed"), { recursive: true });
    const { status, of, faults } = await doctor();
    expect([status, faults]).toEqual([1, expect.arrayContaining(["profile"])]);
    expect(of("profile")).toMatchObject({
      found: expect.stringContaining("EISDIR"),
      hint: expect.stringContaining("RECEIVABLES_DATA"),
    });
  });

  verifies("OP-06");
  it("names the steps of a later version", async () => {
    await migrated();
    const store = await database.open();
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(
      store.read,
    );
    await store.close();
    const { faults, of } = await doctor();
    expect([faults, of("store")?.found]).toEqual([
      ["store"],
      expect.stringContaining("9999-later"),
    ]);
  });
});

describe("doctor", () => {
  verifies("OP-06");
  it("says that the data folder is a file, and nothing of a store in it", async () => {
    const path = fileURLToPath(import.meta.url);
    const { status, stdout } = await runCli(["doctor", "--json"], { RECEIVABLES_DATA: path });
    const { checks } = JSON.parse(stdout) as { checks: Check[] };
    expect([status, checks.filter(({ ok }) => !ok)]).toEqual([
      1,
      [
        {
          check: "data_folder",
          ok: false,
          found: `${path} is not a folder`,
          hint: expect.stringContaining("RECEIVABLES_DATA"),
        },
      ],
    ]);
    expect(checks.map(({ check }) => check)).not.toContain("store");
  });

  verifies("OP-06");
  it("checks the public URL against the trusted proxies", async () => {
    const diagnose = async (settings: Record<string, string>) => {
      const env = { RECEIVABLES_DATA: "/nonexistent/data", ...settings };
      const { stdout } = await runCli(["doctor", "--json"], env);
      const { checks } = JSON.parse(stdout) as { checks: Check[] };
      return checks.find(({ check }) => check === "public_url");
    };
    const url = { RECEIVABLES_PUBLIC_URL: "https://ar.example" };
    const proxies = { RECEIVABLES_TRUSTED_PROXIES: "10.0.0.0/8" };
    expect(await diagnose({})).toBeUndefined();
    expect(await diagnose({ ...url, ...proxies })).toMatchObject({ ok: true });
    expect(await diagnose(url)).toMatchObject({
      ok: false,
      hint: expect.stringContaining("RECEIVABLES_TRUSTED_PROXIES"),
    });
    expect(await diagnose(proxies)).toMatchObject({
      ok: true,
      hint: expect.stringContaining("links"),
    });
  });
});
