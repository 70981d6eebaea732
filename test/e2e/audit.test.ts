import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { runCli } from "../support/cli.ts";
import { verifies } from "../support/verifies.ts";

const OLD = Array.from({ length: 3 }, (_, index) => ({
  id: `old-${index}`,
  method: "POST",
  endpoint: "/schedules",
  statusCode: 201,
  metadata: { scheduleId: `s-${index}` },
  timestamp: `2026-01-0${index + 1}T00:00:00Z`,
}));

let folder: string;
const cli = (...line: string[]) =>
  runCli(line, { RECEIVABLES_DATA: join(folder, "data"), RECEIVABLES_LOG: "warn" }, "", folder);

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "audit-")));
  await cli("admin", "tenant", "create", "acme", "--name", "Acme Inc.");
  const lines = OLD.map((entry) => JSON.stringify(entry)).join("\n");
  await writeFile(join(folder, "old.ndjson"), lines);
});
afterAll(() => rm(folder, { recursive: true, maxRetries: 3 }));

describe("the audit log from the command line", () => {
  verifies("AU-05", "C-58");
  it("imports old entries, verifies them, and tells of a change by its exit status", async () => {
    const imported = await cli("import", "audit-logs", "old.ndjson", "--tenant", "acme");
    expect([imported.status, JSON.parse(imported.stdout)]).toEqual([
      0,
      expect.objectContaining({ kind: "audit-logs", read: 3, written: 3, rejects: null }),
    ]);
    const good = { tenantId: "acme", entries: 3, sealedTo: 3, ok: true, firstBadId: null };
    const whole = await cli("admin", "audit", "verify", "acme");
    expect([whole.status, JSON.parse(whole.stdout), whole.stderr]).toEqual([0, good, ""]);

    const store = await openSqlite(join(folder, "data", "receivables.db"));
    await store.transaction((tx) =>
      tx.updateTable("audit_logs").set({ endpoint: "/webhooks" }).where("seq", "=", 2).execute(),
    );
    await store.close();
    const changed = await cli("admin", "audit", "verify", "acme");
    expect([changed.status, JSON.parse(changed.stdout)]).toEqual([
      1,
      { ...good, ok: false, sealedTo: 1, firstBadId: "old-1" },
    ]);
    expect(changed.stderr).toContain("entry old-1");

    const unknown = await cli("admin", "audit", "verify", "nobody");
    expect([unknown.status, unknown.stdout]).toEqual([1, ""]);
  });
});
