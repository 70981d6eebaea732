import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { DAY, systemClock } from "../../src/kit/clock.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { appendEntries } from "../../src/platform/store/audit/chain.ts";
import { purgeEntries } from "../../src/platform/store/audit/purge.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { entry } from "../support/audit.ts";
import { runAdmin, runCli, startCli, whenReady } from "../support/cli.ts";
import { checkEvidence } from "../support/evidence-checker.ts";
import { type Database, dialects } from "../support/stores.ts";
import { takeBackLastSteps } from "../support/unmigrated.ts";
import { verifies } from "../support/verifies.ts";

const STEP = "0032-evidence";
const ENTRIES = 9;
const PURGED = 3;
const TENANTS = ["whole", "purged"];

const writeLogs = async (store: Store): Promise<void> => {
  for (const tenantId of TENANTS) {
    const needs = { store, clock: systemClock, newId: () => tenantId };
    await createTenant(needs, { tenantId, name: tenantId });
    const timeOf = (index: number): number => systemClock() - (ENTRIES - index) * DAY;
    const entries = Array.from({ length: ENTRIES }, (_, index) =>
      entry(tenantId, index + 1, timeOf(index)),
    );
    await store.transaction((tx) => appendEntries(tx, store.auditKey, entries));
  }
  const before = systemClock() - (ENTRIES - PURGED + 0.5) * DAY;
  await store.transaction((tx) => purgeEntries(tx, store.auditKey, "purged", before));
};

/** Makes a store with logs as the version before evidence left it. */
const makeFormer = async (database: Database): Promise<void> => {
  const store = await database.open();
  await writeLogs(store);
  await store.transaction(async (tx) => {
    for (const table of ["evidence_heads", "evidence_keys"]) {
      await sql`drop table ${sql.ref(table)}`.execute(tx);
    }
    // The column of step 0034 is gone with its table.
    await takeBackLastSteps(tx);
    await sql`drop index disputes_precedents`.execute(tx);
    await sql`delete from kysely_migration where name >= ${STEP}`.execute(tx);
  });
  await store.close();
};

const readHeads = async (database: Database) => {
  const store = await database.open();
  const rows = await store.read
    .selectFrom("evidence_heads")
    .select(["tenant_id", "seq"])
    .where("signature", "<>", "")
    .where("tenant_id", "in", TENANTS)
    .orderBy("tenant_id")
    .execute();
  await store.close();
  return rows;
};

verifies("RC-20");
it.each(dialects)(
  "the first start of this version signs logs of the version before ($name)",
  async (dialect) => {
    const database = await dialect.createMigrated();
    try {
      await makeFormer(database);
      const env: Record<string, string> = { ...database.environment, RECEIVABLES_LOG: "warn" };
      const running = startCli(["platform", "--port", "0"], env);
      try {
        await whenReady(running);
        await expect
          .poll(() => readHeads(database))
          .toEqual(TENANTS.toSorted().map((tenant_id) => ({ tenant_id, seq: ENTRIES })));
      } finally {
        await running.end("SIGTERM");
      }
      const folder = env["RECEIVABLES_DATA"] ?? "";
      const { publicKey } = await runAdmin(["audit", "key"], env);
      const key = join(folder, "key.pem");
      writeFileSync(key, String(publicKey));
      for (const tenantId of TENANTS) {
        const path = join(folder, `${tenantId}.jsonl`);
        const days = ["--from", "2000-01-01", "--to", "2999-12-31"];
        const entries = tenantId === "whole" ? ENTRIES : ENTRIES - PURGED;
        expect(await runAdmin(["audit", "evidence", tenantId, path, ...days], env)).toMatchObject({
          entries,
        });
        expect(checkEvidence(path, String(publicKey))).toBeNull();
        // An entry of the version before is covered by the signature.
        const text = readFileSync(path, "utf8");
        const changed = text.replace('"rowCount\\":4', '"rowCount\\":5');
        expect(changed).not.toBe(text);
        writeFileSync(path, changed);
        const verdict = await runCli(["verify-evidence", path, "--key", key], env);
        expect([verdict.status, JSON.parse(verdict.stdout)]).toMatchObject([1, { id: "entry-4" }]);
      }
    } finally {
      await database.remove();
    }
  },
);
