import { beforeAll, describe, expect, it } from "vitest";
import { DAY } from "../../src/kit/clock.ts";
import { readSignedHead, signHead, verifyAudit } from "../../src/platform/admin/audit.ts";
import { appendEntries } from "../../src/platform/store/audit/chain.ts";
import {
  type AuditKey,
  createAuditKey,
  computeUnkeyedHash,
} from "../../src/platform/store/audit-key.ts";
import { changeRows } from "../../src/platform/store/engine/rows.ts";
import type { Db } from "../../src/platform/store/port.ts";
import type { AuditHeadRow, AuditLogRow } from "../../src/platform/store/tables/schema.ts";
import { entry, logged, rowsOf } from "../support/audit.ts";
import { onEveryStore, RETENTION } from "../support/platform.ts";
import { findRow } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

/** Codes that an attacker without the key can compute. */
const FOREIGN = createAuditKey(Buffer.alloc(32, 9));
const FORGED: [name: string, link: AuditKey["link"]][] = [
  ["hashes without a key", computeUnkeyedHash],
  ["the link code of another key", FOREIGN.link],
  ["the seal code of another key", FOREIGN.seal],
];

type State = { rows: AuditLogRow[]; head: AuditHeadRow };

const headOf = (tx: Db, tenantId: string) => findRow(tx, "audit_heads", { tenant_id: tenantId });

const wipe = async (tx: Db, tenantId: string): Promise<void> => {
  await tx.deleteFrom("audit_logs").where("tenant_id", "=", tenantId).execute();
  await tx.deleteFrom("audit_heads").where("tenant_id", "=", tenantId).execute();
};

const restore = async (tx: Db, tenantId: string, { rows, head }: State): Promise<void> => {
  await wipe(tx, tenantId);
  if (rows.length > 0) await tx.insertInto("audit_logs").values(rows).execute();
  await tx.insertInto("audit_heads").values(head).execute();
};

verifies("C-97", "D-AUD-4", "OP-04");
onEveryStore("an audit chain whose attacker can write the database", (at) => {
  let tenants = 0;
  let tenantId: string;
  const change = (act: (tx: Db) => Promise<unknown>) =>
    at().store.transaction(async (tx) => {
      await act(tx);
    });
  const append = (number: number) => {
    const { store, clock } = at();
    return store.transaction((tx) =>
      appendEntries(tx, store.auditKey, [entry(tenantId, number, clock())]),
    );
  };
  const state = async (): Promise<State> => ({
    rows: await rowsOf(at().store.read, tenantId),
    head: await headOf(at().store.read, tenantId),
  });
  const start = async (entries: number) => {
    tenants += 1;
    tenantId = `attacked-${tenants}`;
    await logged(at(), tenantId, entries);
  };
  const verdict = () => verifyAudit(at(), tenantId);

  describe.each(FORGED)("with %s", (_name, link) => {
    /** Numbers and links the rows from the beginning, and makes the head fit, with its code or a forged one. */
    const relink = async (tx: Db, kept: readonly AuditLogRow[], isForged: boolean) => {
      let hash = "";
      const rows = kept.map((row, index) => {
        const linked = { ...row, seq: index + 1, prev_hash: hash };
        hash = link(linked);
        return { ...linked, hash };
      });
      const before = await headOf(tx, tenantId);
      const head = { ...before, seq: rows.length, hash };
      const mac = isForged ? FOREIGN.head(tenantId, head) : before.mac;
      await restore(tx, tenantId, { rows, head: { ...head, mac } });
    };

    it("reports an entry that was deleted, with the chain relinked and the head rewritten", async () => {
      await start(9);
      await change(async (tx) => {
        const rows = await rowsOf(tx, tenantId);
        await relink(tx, rows.toSpliced(4, 1), true);
      });
      expect(await verdict()).toMatchObject({ ok: false });
      await append(10);
      expect(await verdict()).toMatchObject({ ok: false });
    });

    it("reports an entry whose fields were changed, with the chain relinked", async () => {
      await start(9);
      await change(async (tx) => {
        const rows = await rowsOf(tx, tenantId);
        await relink(
          tx,
          rows.map((row) => (row.seq === 9 ? { ...row, status_code: 404 } : row)),
          false,
        );
      });
      expect(await verdict()).toMatchObject({ ok: false });
    });
  });

  it("reports a tail that was cut off, before and after the program appends to it", async () => {
    await start(9);
    await change(async (tx) => {
      const [, , , , fifth] = await rowsOf(tx, tenantId);
      if (fifth === undefined) throw new Error("no such entry");
      await tx
        .deleteFrom("audit_logs")
        .where("tenant_id", "=", tenantId)
        .where("seq", ">", 5)
        .execute();
      await changeRows(tx, "audit_heads", { tenant_id: tenantId }, { seq: 5, hash: fifth.hash });
    });
    expect(await verdict()).toMatchObject({ ok: false, fault: "head_changed", sealedTo: 5 });
    await append(6);
    expect(await verdict()).toMatchObject({ ok: false, fault: "head_changed", sealedTo: 6 });
    await expect(signHead(at(), tenantId)).rejects.toThrow("was changed");
  });

  it("reports a log that was emptied, before and after the program appends to it", async () => {
    await start(9);
    await change((tx) => wipe(tx, tenantId));
    expect(await verdict()).toMatchObject({ ok: false, fault: "head_missing" });
    await append(1);
    expect(await verdict()).toMatchObject({ ok: false, fault: "head_changed" });
  });

  it("reports first entries that were removed as if by retention, and retention keeps the rest", async () => {
    await start(9);
    await change(async (tx) => {
      const [, , third] = await rowsOf(tx, tenantId);
      if (third === undefined) throw new Error("no such entry");
      await tx
        .deleteFrom("audit_logs")
        .where("tenant_id", "=", tenantId)
        .where("seq", "<=", 3)
        .execute();
      await changeRows(
        tx,
        "audit_heads",
        { tenant_id: tenantId },
        { purged_seq: 3, purged_hash: third.hash },
      );
    });
    expect(await verdict()).toMatchObject({ ok: false, fault: "head_changed" });
    at().clock.advance(RETENTION.auditLogs);
    await at().platform.purge();
    expect(await verdict()).toMatchObject({ ok: false, entries: 6 });
  });

  it("removes no entry by retention that was made to look old, nor one after a gap", async () => {
    const old = at().clock() - RETENTION.auditLogs - DAY;
    await start(3);
    await change((tx) =>
      tx.updateTable("audit_logs").set({ at: old }).where("tenant_id", "=", tenantId).execute(),
    );
    await at().platform.purge();
    expect(await verdict()).toMatchObject({ ok: false, entries: 3, firstBadId: "entry-1" });

    await start(0);
    const { store } = at();
    const entries = [1, 2, 3].map((number) => entry(tenantId, number, old));
    await store.transaction((tx) => appendEntries(tx, store.auditKey, entries));
    await change((tx) =>
      tx.deleteFrom("audit_logs").where("tenant_id", "=", tenantId).where("seq", "=", 1).execute(),
    );
    await at().platform.purge();
    expect(await verdict()).toMatchObject({ ok: false, entries: 2, firstBadId: "entry-2" });
  });

  it("says that another master key signed a log", async () => {
    await start(2);
    await change(async (tx) => {
      const { rows, head } = await state();
      const mac = FOREIGN.head(tenantId, head);
      await restore(tx, tenantId, { rows, head: { ...head, mac, key_id: FOREIGN.id } });
    });
    expect(await verdict()).toMatchObject({ ok: false, fault: "other_key" });
    await expect(signHead(at(), tenantId)).rejects.toThrow("another master key");
  });

  describe("compared with a head that was stored elsewhere", () => {
    let kept: Parameters<typeof verifyAudit>[2];
    let before: State;
    const against = () => verifyAudit(at(), tenantId, kept);

    beforeAll(async () => {
      await start(5);
      before = await state();
      await append(6);
      const text = JSON.stringify(await signHead(at(), tenantId));
      kept = readSignedHead(at(), tenantId, text);
    });

    it("finds the head in the log, also after further entries", async () => {
      expect(await against()).toMatchObject({ ok: true, entries: 6 });
      await append(7);
      expect(await against()).toMatchObject({ ok: true, entries: 7 });
    });

    it("reports a log that was restored to an older state, also if it has grown since", async () => {
      await change((tx) => restore(tx, tenantId, before));
      expect(await verdict()).toMatchObject({ ok: true, entries: 5 });
      expect(await against()).toMatchObject({ ok: false, fault: "kept_head_differs" });
      for (const number of [6, 7, 8]) await append(number + 100);
      expect(await verdict()).toMatchObject({ ok: true, entries: 8 });
      expect(await against()).toMatchObject({ ok: false, fault: "kept_head_differs" });
    });

    it("compares with the last entry that retention has removed, and says when it is older", async () => {
      await start(0);
      kept = readSignedHead(at(), tenantId, JSON.stringify(await signHead(at(), tenantId)));
      await append(1);
      expect(await against()).toMatchObject({ ok: true, entries: 1 });
      kept = readSignedHead(at(), tenantId, JSON.stringify(await signHead(at(), tenantId)));
      at().clock.advance(RETENTION.auditLogs + DAY);
      await append(2);
      await at().platform.purge();
      expect(await against()).toMatchObject({ ok: true, entries: 1, sealedTo: 2 });
      at().clock.advance(RETENTION.auditLogs + DAY);
      await at().platform.purge();
      expect(await against()).toMatchObject({ ok: false, fault: "kept_head_purged" });
    });

    it("refuses a head that was changed, of another tenant, of another key, or no head", async () => {
      const signed = await signHead(at(), tenantId);
      const read = (head: object) => () => readSignedHead(at(), tenantId, JSON.stringify(head));
      const { signature, ...head } = signed;
      expect(read(signed)()).toEqual(head);
      expect(read({ ...signed, seq: signed.seq - 1 })).toThrow("signature");
      expect(read({ ...signed, timestamp: "2020-01-01T00:00:00.000Z" })).toThrow("signature");
      expect(read({ ...signed, signature: FOREIGN.keptHead(head) })).toThrow("another master key");
      expect(read({ ...signed, tenantId: "other" })).toThrow("tenant other");
      expect(read(head)).toThrow("admin audit head");
      expect(() => readSignedHead(at(), tenantId, "")).toThrow("admin audit head");
      expect(signature).toMatch(/^[0-9a-f]{64}$/);
    });
  });
});
