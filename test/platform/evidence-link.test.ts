import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY, formatDay } from "../../src/kit/clock.ts";
import { verifyAudit } from "../../src/platform/admin/audit.ts";
import { showEvidenceKey, writeEvidence } from "../../src/platform/admin/evidence.ts";
import { verifyEvidence } from "../../src/platform/admin/verify-evidence.ts";
import {
  type Head,
  signEvidenceHead,
  signEvidenceHeads,
} from "../../src/platform/evidence-heads.ts";
import { appendEntries, findHead } from "../../src/platform/store/audit/chain.ts";
import { formatHead } from "../../src/platform/store/audit/evidence.ts";
import { nameKey } from "../../src/platform/store/audit/evidence-keys.ts";
import { findLinkRow } from "../../src/platform/store/audit/retained-link.ts";
import { AuditChainChanged, purgeEntries } from "../../src/platform/store/audit/purge.ts";
import { computeUnkeyedHash } from "../../src/platform/store/audit-key.ts";
import type { Db } from "../../src/platform/store/port.ts";
import { entry, logged, rowsOf } from "../support/audit.ts";
import { checkEvidence } from "../support/evidence-checker.ts";
import { MASTER_KEY, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const ENTRIES = 12;
const PURGED = 3;
const FALSE_LINK = "0".repeat(64);
const LINK_CHANGED = "The link that evidence of the audit log";

onEveryStore("the link that retention leaves", (at) => {
  let folder: string;
  let files = 0;
  let tenants = 0;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "evidence-link-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const needs = () => ({ store: at().store, clock: at().clock, masterKey: MASTER_KEY });
  const change = (act: (tx: Db) => Promise<unknown>) =>
    at().store.transaction(async (tx) => {
      await act(tx);
    });
  const append = (tenantId: string, number: number) =>
    change((tx) => appendEntries(tx, at().store.auditKey, [entry(tenantId, number, at().clock())]));
  const purge = (tenantId: string, count: number) =>
    at().store.transaction((tx) =>
      purgeEntries(tx, at().store.auditKey, tenantId, at().clock() - (ENTRIES - count - 0.5) * DAY),
    );
  const write = async (tenantId: string): Promise<string> => {
    const path = join(folder, `${(files += 1)}.jsonl`);
    const [from, to] = [formatDay(at().clock() - ENTRIES * DAY), formatDay(at().clock())];
    await writeEvidence(needs(), tenantId, { from, to, path });
    return path;
  };
  const readKey = async () => (await showEvidenceKey(needs(), { rotate: false })).publicKey;
  const verify = (tenantId: string) => verifyAudit(needs(), tenantId);
  const listRows = (tenantId: string) =>
    at()
      .store.read.selectFrom("evidence_heads")
      .selectAll()
      .where("tenant_id", "=", tenantId)
      .orderBy("seq")
      .execute();
  const removeRows = (tx: Db, tenantId: string) =>
    tx.deleteFrom("evidence_heads").where("tenant_id", "=", tenantId);
  const updateLink = (tx: Db, tenantId: string, values: { link?: string; mac?: string }) =>
    tx
      .updateTable("evidence_heads")
      .set(values)
      .where("tenant_id", "=", tenantId)
      .where("signature", "=", "")
      .execute();
  const addLink = (tx: Db, tenantId: string, seq: number, mac = "") =>
    tx
      .insertInto("evidence_heads")
      .values({ tenant_id: tenantId, seq, link: FALSE_LINK, at: 0, key_id: "", signature: "", mac })
      .execute();
  /** A log from which retention has removed entries after its end was signed; `purged` of none leaves all of them. */
  const start = async (purged = PURGED): Promise<{ tenantId: string; head: Head }> => {
    const tenantId = `linked-${(tenants += 1)}`;
    await logged(at(), tenantId, ENTRIES);
    const head = await signEvidenceHead(needs(), tenantId);
    if (purged > 0) expect(await purge(tenantId, purged)).toBe(purged);
    await append(tenantId, ENTRIES + 1);
    return { tenantId, head };
  };

  type Act = (tx: Db, id: string, other: string) => Promise<unknown>;
  const TAMPERED: [what: string, purged: number, act: Act][] = [
    ["changed", PURGED, (tx, id) => updateLink(tx, id, { link: FALSE_LINK })],
    [
      "changed, with its code taken away",
      PURGED,
      (tx, id) => updateLink(tx, id, { link: FALSE_LINK, mac: "" }),
    ],
    [
      "changed, with its code and all signed heads taken away",
      PURGED,
      async (tx, id) => {
        await updateLink(tx, id, { link: FALSE_LINK, mac: "" });
        await removeRows(tx, id).where("signature", "<>", "").execute();
      },
    ],
    ["removed", PURGED, (tx, id) => removeRows(tx, id).where("seq", "=", PURGED).execute()],
    ["removed with all signed heads", PURGED, (tx, id) => removeRows(tx, id).execute()],
    ["added to a log that is whole", 0, (tx, id) => addLink(tx, id, 0)],
    [
      "that of another log",
      PURGED,
      async (tx, id, other) => {
        const row = await findLinkRow(tx, other, PURGED);
        await updateLink(tx, id, { link: row?.link ?? "", mac: row?.mac ?? "" });
      },
    ],
  ];

  describe("when it was tampered with in the database", () => {
    verifies("RC-20");
    it.each(TAMPERED)("is found and named: %s", async (_what, purged, act) => {
      const { tenantId } = await start(purged);
      expect(await verify(tenantId)).toMatchObject({ ok: true, evidence: null });
      const before = await listRows(tenantId);
      const other = await start();
      await change((tx) => act(tx, tenantId, other.tenantId));
      await expect(signEvidenceHead(needs(), tenantId)).rejects.toThrow(LINK_CHANGED);
      await expect(write(tenantId)).rejects.toThrow(`of entry number ${purged}`);
      expect(await verify(tenantId)).toMatchObject({
        ok: false,
        fault: "evidence_changed",
        evidence: expect.stringContaining(LINK_CHANGED),
      });
      // No entry is removed over it, because its link would be lost.
      await expect(purge(tenantId, purged + 1)).rejects.toThrow(AuditChainChanged);
      await change(async (tx) => {
        await removeRows(tx, tenantId).execute();
        await tx.insertInto("evidence_heads").values(before).execute();
      });
      expect(await purge(tenantId, purged + 1)).toBe(1);
      expect(await verify(tenantId)).toMatchObject({ ok: true });
      expect(await verifyEvidence(await write(tenantId), await readKey())).toMatchObject({
        ok: true,
      });
    });

    verifies("RC-20");
    it("is named in the log of the platform within the hour", async () => {
      const { tenantId } = await start();
      at().clock.advance(DAY);
      await change((tx) => updateLink(tx, tenantId, { link: FALSE_LINK }));
      const errors: unknown[] = [];
      const quiet = () => {};
      const log = {
        error: (...line: unknown[]) => errors.push(line),
        warn: quiet,
        info: quiet,
        debug: quiet,
      };
      await signEvidenceHeads({ ...needs(), log });
      expect(JSON.stringify(errors)).toContain(`${LINK_CHANGED} of tenant ${tenantId}`);
    });

    verifies("RC-20");
    it("is found where it was put before an entry that retention removes later", async () => {
      const { tenantId } = await start();
      await change((tx) => addLink(tx, tenantId, PURGED + 2));
      expect(await verify(tenantId)).toMatchObject({
        ok: false,
        evidence: expect.stringContaining(`link of entry number ${PURGED + 2}`),
      });
      await expect(purge(tenantId, PURGED + 2)).rejects.toThrow(AuditChainChanged);
    });

    verifies("RC-20");
    it("is found by the checkers with a head that was kept, also if the master key made its code", async () => {
      const { tenantId, head } = await start();
      const key = await readKey();
      const kept = JSON.stringify({ evidence: head });
      const whole = await write(tenantId);
      expect(await verifyEvidence(whole, key, [kept])).toMatchObject({ ok: true, compared: 1 });
      expect(checkEvidence(whole, key, [head])).toBeNull();
      const { auditKey, read } = at().store;
      const end = await findHead(read, tenantId);
      if (end === undefined) throw new Error("the log has no head");
      await change(async (tx) => {
        await removeRows(tx, tenantId).execute();
        await addLink(tx, tenantId, PURGED, auditKey.retained(tenantId, end, FALSE_LINK));
      });
      const later = await write(tenantId);
      expect(await verifyEvidence(later, key)).toMatchObject({ ok: true });
      const verdict = await verifyEvidence(later, key, [kept]);
      expect(verdict).toMatchObject({ ok: false, id: `entry-${ENTRIES}` });
      expect(verdict.fault).toMatch(/kept head of entry number 12 .* the link that follows/);
      expect(checkEvidence(later, key, [head])).toBe(`head ${ENTRIES}`);
    });
  });

  describe("what else evidence begins with", () => {
    const expectRefusal = async (tenantId: string, reason: string | RegExp) => {
      await expect(signEvidenceHead(needs(), tenantId)).rejects.toThrow(reason);
      await expect(write(tenantId)).rejects.toThrow(reason);
      expect(await verify(tenantId)).toMatchObject({ ok: false });
    };
    const addKey = async (tx: Db, number: number, publicKey: string) => {
      const row = { number, id: nameKey(publicKey), public_key: publicKey, sealed: "" };
      await tx
        .insertInto("evidence_keys")
        .values({ ...row, created_at: 0, signed_by_former: "", signs_former: "" })
        .execute();
    };
    const forge = (privateKey: KeyObject, tenantId: string, seq: number): string => {
      const at = { seq, link: FALSE_LINK, signedAt: new Date(0).toISOString() };
      return sign(null, Buffer.from(formatHead(tenantId, at)), privateKey).toString("base64");
    };

    verifies("RC-20");
    it("is refused where a key was added that no key of the installation has signed", async () => {
      const { tenantId } = await start();
      const pair = generateKeyPairSync("ed25519");
      const publicKey = pair.publicKey.export({ format: "der", type: "spki" }).toString("base64");
      await change(async (tx) => {
        await addKey(tx, 0, publicKey);
        const signature = forge(pair.privateKey, tenantId, ENTRIES + 1);
        const row = { tenant_id: tenantId, seq: ENTRIES + 1, link: FALSE_LINK, at: 0, mac: "" };
        await tx
          .insertInto("evidence_heads")
          .values({ ...row, key_id: nameKey(publicKey), signature })
          .execute();
      });
      await expectRefusal(tenantId, `The key ${nameKey(publicKey)} of evidence was added`);
      await change((tx) => tx.deleteFrom("evidence_keys").where("number", "=", 0).execute());
      await expect(write(tenantId)).rejects.toThrow("signed head of entry number 13");
    });

    verifies("RC-20");
    it("is refused where the public half of the key that signs was changed", async () => {
      const { tenantId } = await start();
      const row = await at()
        .store.read.selectFrom("evidence_keys")
        .selectAll()
        .where("sealed", "<>", "")
        .executeTakeFirstOrThrow();
      const { publicKey } = generateKeyPairSync("ed25519");
      const spki = publicKey.export({ format: "der", type: "spki" }).toString("base64");
      const set = (values: { id: string; public_key: string }) =>
        change((tx) =>
          tx.updateTable("evidence_keys").set(values).where("number", "=", row.number).execute(),
        );
      await set({ id: nameKey(spki), public_key: spki });
      await expectRefusal(tenantId, `The key ${nameKey(spki)} of evidence was added or changed`);
      await set({ id: row.id, public_key: row.public_key });
      expect(await verify(tenantId)).toMatchObject({ ok: true });
    });

    verifies("RC-20");
    it("is refused where entries were replaced by ones without a code, up to the end", async () => {
      const { tenantId } = await start();
      const rows = await rowsOf(at().store.read, tenantId, ENTRIES);
      await append(tenantId, ENTRIES + 2);
      await change(async (tx) => {
        let [previous] = (await rowsOf(tx, tenantId, ENTRIES - 1)).map(({ hash }) => hash);
        for (const row of await rowsOf(tx, tenantId, ENTRIES)) {
          const forged = { ...row, status_code: 404, prev_hash: previous ?? "" };
          const hash = computeUnkeyedHash(forged);
          await tx
            .updateTable("audit_logs")
            .set({ status_code: 404, prev_hash: forged.prev_hash, hash })
            .where("tenant_id", "=", tenantId)
            .where("seq", "=", row.seq)
            .execute();
          previous = hash;
        }
      });
      expect(rows).toHaveLength(1);
      await expectRefusal(tenantId, /were changed at the end of the audit log|Entry entry-13/);
    });
  });
});
