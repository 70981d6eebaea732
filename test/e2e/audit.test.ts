import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { rowsOf } from "../support/audit.ts";
import { runCli } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { signingIn } from "../support/signing.ts";
import { verifies } from "../support/verifies.ts";

const OLD = Array.from({ length: 3 }, (_, index) => ({
  id: `old-${index}`,
  method: "POST",
  endpoint: "/schedules",
  statusCode: 201,
  metadata: { scheduleId: `s-${index}` },
  timestamp: `2026-01-0${index + 1}T00:00:00Z`,
}));

const actor = userInfo().username;
const folder = useFolder();
const run = (line: string[], more: Record<string, string> = {}, input = "") => {
  const data = join(folder, "data");
  return runCli(line, { RECEIVABLES_DATA: data, RECEIVABLES_LOG: "warn", ...more }, input, folder);
};
const cli = (...line: string[]) => run(line);
const create = (tenantId: string) => cli("admin", "tenant", "create", tenantId, "--name", tenantId);

beforeAll(async () => {
  await cli("admin", "tenant", "create", "acme", "--name", "Acme Inc.");
  const lines = OLD.map((entry) => JSON.stringify(entry)).join("\n");
  await writeFile(join(folder, "old.ndjson"), lines);
});

describe("the audit log from the command line", () => {
  verifies("AU-05", "C-58", "OP-02");
  it("logs the commands, verifies imported entries, and reports a change by its exit status", async () => {
    const imported = await cli("import", "audit-logs", "old.ndjson", "--tenant", "acme");
    expect([imported.status, JSON.parse(imported.stdout)]).toEqual([
      0,
      expect.objectContaining({ kind: "audit-logs", read: 3, written: 3, rejects: null }),
    ]);
    const good = {
      tenantId: "acme",
      entries: 5,
      sealedTo: 5,
      ok: true,
      firstBadId: null,
      fault: null,
      evidence: null,
      unkeyed: null,
    };
    const whole = await cli("admin", "audit", "verify", "acme");
    expect([whole.status, JSON.parse(whole.stdout), whole.stderr]).toEqual([0, good, ""]);

    const data = join(folder, "data");
    const store = await openSqlite(join(data, "receivables.db"), signingIn(data));
    const entries = await rowsOf(store.read, "acme");
    expect([entries.at(0), entries.at(-1)]).toMatchObject([
      { action: "admin.tenant_created", metadata: JSON.stringify({ resourceId: "acme", actor }) },
      { action: "import.audit-logs", metadata: expect.stringContaining(`"actor":"${actor}"`) },
    ]);
    await store.transaction((tx) =>
      tx.updateTable("audit_logs").set({ endpoint: "/webhooks" }).where("seq", "=", 3).execute(),
    );
    await store.close();
    const changed = await cli("admin", "audit", "verify", "acme");
    expect([changed.status, JSON.parse(changed.stdout)]).toEqual([
      1,
      { ...good, ok: false, sealedTo: 2, firstBadId: "old-1", fault: "entry_changed" },
    ]);
    expect(changed.stderr).toContain("entry old-1");

    const unknown = await cli("admin", "audit", "verify", "nobody");
    expect([unknown.status, unknown.stdout]).toEqual([1, ""]);
  });

  verifies("C-97", "D-AUD-4", "OP-04");
  it("prints a signed head, and compares the log with it from a file and from standard input", async () => {
    await create("kept");
    const head = await cli("admin", "audit", "head", "kept");
    expect([head.status, JSON.parse(head.stdout)]).toEqual([
      0,
      expect.objectContaining({ tenantId: "kept", seq: 1, signature: expect.any(String) }),
    ]);
    await writeFile(join(folder, "head.json"), head.stdout);
    const verify = ["admin", "audit", "verify", "kept", "--head"];
    expect(await cli(...verify, "head.json")).toMatchObject({ status: 0, stderr: "" });
    expect(await run([...verify, "-"], {}, head.stdout)).toMatchObject({ status: 0, stderr: "" });
    const forged = await run([...verify, "-"], {}, head.stdout.replace(':1,"hash"', ':2,"hash"'));
    expect([forged.status, forged.stdout]).toEqual([1, ""]);
    expect(forged.stderr).toContain("signature of the head");
    const missing = await cli(...verify, "none.json");
    expect([missing.status, missing.stdout]).toEqual([1, ""]);
    expect(missing.stderr).toContain("none.json cannot be read");
  });

  verifies("RC-20");
  it("writes evidence that is checked with the public key, in another folder and without a key", async () => {
    await create("proved");
    const head = await cli("admin", "audit", "head", "proved");
    await writeFile(join(folder, "kept.json"), head.stdout);
    const key = await cli("admin", "audit", "key");
    await writeFile(join(folder, "key.json"), key.stdout);
    const days = ["--from", "2026-01-01", "--to", "2099-12-31"];
    const written = await cli("admin", "audit", "evidence", "proved", "proof.jsonl", ...days);
    expect([written.status, JSON.parse(written.stdout)]).toEqual([
      0,
      { file: "proof.jsonl", tenantId: "proved", entries: 1, heads: 2 },
    ]);
    const check = ["verify-evidence", "proof.jsonl", "--key", "key.json"];
    const elsewhere = { RECEIVABLES_DATA: join(folder, "elsewhere") };
    const whole = await run(check, elsewhere);
    expect([whole.status, JSON.parse(whole.stdout)]).toEqual([
      0,
      expect.objectContaining({ ok: true, entries: 1 }),
    ]);
    const compared = await run([...check, "--head", "kept.json"], elsewhere);
    expect(JSON.parse(compared.stdout)).toMatchObject({ ok: true, compared: 1 });
    const foreign = await run([...check, "--head", "key.json"], elsewhere);
    expect([foreign.status, foreign.stderr]).toEqual([
      1,
      expect.stringContaining("head is neither"),
    ]);
    const text = await readFile(join(folder, "proof.jsonl"), "utf8");
    await writeFile(join(folder, "proof.jsonl"), text.replace("admin.", "other."));
    const altered = await run(check, elsewhere);
    expect([altered.status, JSON.parse(altered.stdout)]).toEqual([
      1,
      expect.objectContaining({ ok: false, id: expect.any(String) }),
    ]);
    expect(altered.stderr).toContain("was changed");
    await expect(stat(join(folder, "elsewhere"))).rejects.toThrow("ENOENT");
  });

  verifies("C-97", "OP-04");
  it("reports a missing or different master key", async () => {
    await create("keyed");
    const other = await run(["admin", "audit", "verify", "keyed"], {
      RECEIVABLES_SECRET_KEY: "another-master-key-of-many-characters-0123456789",
    });
    expect([other.status, other.stdout]).toEqual([1, ""]);
    expect(other.stderr).toContain("signed with another master key");
    const path = join(folder, "data", "secret.key");
    await rename(path, `${path}.away`);
    const without = await cli("admin", "audit", "verify", "keyed");
    expect([without.status, without.stdout]).toEqual([1, ""]);
    expect(without.stderr).toContain(`restore ${path}`);
    await expect(stat(path)).rejects.toThrow("ENOENT");
    await rename(`${path}.away`, path);
    expect(await cli("admin", "audit", "verify", "keyed")).toMatchObject({ status: 0 });
  });
});
