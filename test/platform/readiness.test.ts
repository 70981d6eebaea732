import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createReadiness } from "../../src/kit/readiness.ts";
import { silentLog } from "../../src/kit/log.ts";
import { startPlatform, type TestPlatform } from "../support/platform.ts";
import { dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

verifies("OP-30");
describe.each(dialects)("readiness of the platform ($name)", (dialect) => {
  let at: TestPlatform;

  beforeEach(async () => {
    at = await startPlatform(dialect);
  });
  afterEach(() => at.close());

  const ready = async () => {
    at.clock.advance(1000);
    return at.call("GET", "/ready");
  };

  it("is given when store, schema and file store can be used", async () => {
    const { status, body } = await ready();
    const ok = { ok: true };
    expect([status, body]).toEqual([
      200,
      { status: "ok", parts: { store: ok, schema: ok, files: ok } },
    ]);
  });

  it("ends with the reason when files cannot be written, and returns with them", async () => {
    await rm(at.files, { recursive: true, force: true });
    await writeFile(at.files, "not a folder");
    const failed = await ready();
    expect([failed.status, failed.body]).toMatchObject([
      503,
      { status: "unavailable", parts: { store: { ok: true }, files: { ok: false } } },
    ]);
    expect(failed.body.parts.files.reason).toMatch(/^failed with E[A-Z]+$/);
    expect(failed.text).not.toContain(at.files);
    await rm(at.files);
    expect((await at.call("GET", "/ready")).status).toBe(503);
    expect((await ready()).status).toBe(200);
  });

  it("ends when another folder is in the place of the files", async () => {
    const id = join(at.files, "store/id");
    await mkdir(join(at.files, "store"), { recursive: true });
    await writeFile(id, "the store's id");
    expect((await ready()).status).toBe(200);
    await rm(at.files, { recursive: true });
    const { status, body } = await ready();
    expect([status, body.parts.files.reason]).toEqual([503, expect.stringContaining("mounted")]);
    await mkdir(join(at.files, "store"), { recursive: true });
    await writeFile(id, "the store's id");
    expect((await ready()).status).toBe(200);
  });

  it("names the steps that the schema lacks, and accepts steps of a later version", async () => {
    const change = (from: string, to: string) =>
      sql`update kysely_migration set name = ${to} where name = ${from}`.execute(at.store.read);
    await change("0003-jobs", "9999-later");
    const { status, body } = await ready();
    expect([status, body.parts.schema.reason]).toEqual([503, expect.stringContaining("0003-jobs")]);
    expect(body.parts.schema.reason).not.toContain("9999-later");
    await change("9999-later", "0003-jobs");
    expect((await ready()).status).toBe(200);
  });

  it("ends without a store, while the process is alive", async () => {
    expect((await ready()).status).toBe(200);
    const { store } = at;
    await (store.dialect === "sqlite" ? store.close() : store.read.destroy());
    const { status, body } = await ready();
    expect([status, body.parts.store.ok, body.parts.files.ok]).toEqual([503, false, true]);
    expect((await at.call("GET", "/health")).status).toBe(200);
  });
});

verifies("OP-30");
describe("a readiness check", () => {
  it("does not wait for a part that does not answer", async () => {
    const ready = createReadiness({
      parts: { slow: () => new Promise(() => {}), fast: async () => {} },
      clock: () => 0,
      log: silentLog,
      timeoutMs: 10,
    });
    expect(await ready()).toEqual({
      ok: false,
      parts: { slow: { ok: false, reason: "no answer within 10 ms" }, fast: { ok: true } },
    });
  });

  it("checks the parts once for all requests of a second, and keeps secrets to the log", async () => {
    let now = 0;
    let checks = 0;
    const ready = createReadiness({
      parts: {
        async store() {
          checks += 1;
          throw new Error("postgres://user:canary@host/db does not answer");
        },
      },
      clock: () => now,
      log: silentLog,
    });
    const [first] = await Promise.all([ready(), ready()]);
    now = 999;
    await ready();
    expect([checks, first]).toEqual([
      1,
      { ok: false, parts: { store: { ok: false, reason: "failed; the log says why" } } },
    ]);
    now = 1000;
    await ready();
    expect(checks).toBe(2);
  });
});
