import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY, systemClock } from "../../src/kit/clock.ts";
import { verifyAudit } from "../../src/platform/admin/audit.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import {
  type EvidenceNeeds,
  signEvidenceHead,
  signEvidenceHeads,
} from "../../src/platform/evidence-heads.ts";
import { appendEntries } from "../../src/platform/store/audit/chain.ts";
import { AuditChainChanged, purgeEntries } from "../../src/platform/store/audit/purge.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { entry } from "../support/audit.ts";
import { signingIn } from "../support/signing.ts";
import { type Database, dialects } from "../support/stores.ts";
import { takeBackLastSteps } from "../support/unmigrated.ts";
import { verifies } from "../support/verifies.ts";

const STEP = "0034-retained-links";
const ENTRIES = 9;
const PURGED = 3;

/** Logs as the version before has left them, by what it knew of them. */
const TENANTS = {
  proved: "a link, and a signed head after it",
  changed: "a link that was changed since, and a signed head after it",
  signed: "a signed head of the last entry that was removed",
  bare: "a link without any signed head",
  older: "neither link nor head",
};

describe.each(dialects)("links from before they had codes ($name)", (dialect) => {
  let database: Database;
  beforeEach(async () => {
    database = await dialect.createMigrated();
  });
  afterEach(() => database.remove());

  const needsOf = async (store: Store): Promise<EvidenceNeeds> => {
    const { RECEIVABLES_DATA: folder = "" } = database.environment;
    return { store, clock: systemClock, masterKey: await signingIn(folder).masterKey(true) };
  };
  const timeOf = (index: number): number => systemClock() - (ENTRIES - index) * DAY;
  const purge = (store: Store, tenantId: string, count: number) =>
    store.transaction((tx) => purgeEntries(tx, store.auditKey, tenantId, timeOf(count) - DAY / 2));

  const writeLog = async (store: Store, tenantId: string): Promise<void> => {
    await createTenant(
      { store, clock: systemClock, newId: () => tenantId },
      { tenantId, name: tenantId },
    );
    const append = (from: number, to: number) =>
      store.transaction((tx) =>
        appendEntries(
          tx,
          store.auditKey,
          Array.from({ length: to - from }, (_, index) =>
            entry(tenantId, from + index + 1, timeOf(from + index)),
          ),
        ),
      );
    await append(0, PURGED);
    if (tenantId === "signed") await signEvidenceHead(await needsOf(store), tenantId);
    await append(PURGED, ENTRIES);
    expect(await purge(store, tenantId, PURGED)).toBe(PURGED);
    if (tenantId === "proved" || tenantId === "changed")
      await signEvidenceHead(await needsOf(store), tenantId);
  };

  /** Makes a store of the version before the step. */
  const makeFormer = async (): Promise<void> => {
    const store = await database.open();
    for (const tenantId of Object.keys(TENANTS)) await writeLog(store, tenantId);
    await store.transaction(async (tx) => {
      await sql`alter table evidence_heads drop column mac`.execute(tx);
      await takeBackLastSteps(tx);
      await sql`delete from kysely_migration where name >= ${STEP}`.execute(tx);
      await sql`delete from evidence_heads where tenant_id = 'older'`.execute(tx);
      await sql`update evidence_heads set link = 'false'
        where tenant_id = 'changed' and signature = ''`.execute(tx);
    });
    await store.close();
  };

  verifies("RC-20");
  it("get one only if nothing that is signed disagrees with them", async () => {
    await makeFormer();
    const store = await database.open();
    try {
      const needs = await needsOf(store);
      const errors: string[] = [];
      const quiet = () => {};
      const error = (_event: string, fields?: object) => errors.push(JSON.stringify(fields));
      await signEvidenceHeads({ ...needs, log: { error, warn: error, info: quiet, debug: quiet } });
      expect(errors).not.toEqual([]);
      expect(errors.filter((line) => !line.includes('"tenantId":"changed"'))).toEqual([]);
      const rows = await store.read
        .selectFrom("evidence_heads")
        .select(["tenant_id", "mac"])
        .where("seq", "=", PURGED)
        .orderBy("tenant_id")
        .execute();
      expect(rows.map(({ tenant_id, mac }) => [tenant_id, mac !== ""])).toEqual(
        Object.keys(TENANTS)
          .toSorted()
          .map((tenantId) => [tenantId, tenantId !== "changed"]),
      );
      for (const tenantId of Object.keys(TENANTS)) {
        const isGood = tenantId !== "changed";
        expect(await verifyAudit(needs, tenantId)).toMatchObject({ ok: isGood });
        if (isGood) expect(await purge(store, tenantId, PURGED + 1)).toBe(1);
        else await expect(purge(store, tenantId, PURGED + 1)).rejects.toThrow(AuditChainChanged);
      }
    } finally {
      await store.close();
    }
  });
});
