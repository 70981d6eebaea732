import { expect, it } from "vitest";
import { DAY, HOUR } from "../../src/kit/clock.ts";
import { verifyAudit } from "../../src/platform/admin/audit.ts";
import { appendEntries } from "../../src/platform/store/audit/chain.ts";
import { purgeEntries } from "../../src/platform/store/audit/purge.ts";
import { computeUnkeyedHash } from "../../src/platform/store/audit-key.ts";
import { changeRows } from "../../src/platform/store/engine/rows.ts";
import type { Db } from "../../src/platform/store/port.ts";
import { entry, logged, rowsOf } from "../support/audit.ts";
import { DISPUTES, onEveryStore, RETENTION } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("the chain of the audit log", (at) => {
  const only = (tx: Db, tenantId: string, seq: number) =>
    tx.updateTable("audit_logs").where("tenant_id", "=", tenantId).where("seq", "=", seq);
  const without = (tx: Db, tenantId: string, seq: number) =>
    tx.deleteFrom("audit_logs").where("tenant_id", "=", tenantId).where("seq", "=", seq);

  const TAMPERED: [what: string, tamper: (tx: Db, id: string) => Promise<unknown>, bad: object][] =
    [
      ["nothing done to it", async () => {}, { entries: 9, sealedTo: 9, ok: true, fault: null }],
      [
        "an entry altered",
        (tx, id) => only(tx, id, 4).set({ status_code: 403 }).execute(),
        { entries: 9, sealedTo: 3, firstBadId: "entry-4" },
      ],
      [
        "an entry altered and its hash computed again",
        async (tx, id) => {
          const row = (await rowsOf(tx, id))[3];
          if (row === undefined) throw new Error("no such entry");
          const altered = { ...row, metadata: "{}" };
          await only(tx, id, 4)
            .set({ metadata: "{}", hash: computeUnkeyedHash(altered) })
            .execute();
        },
        { entries: 9, sealedTo: 3, firstBadId: "entry-4" },
      ],
      [
        "an action given to an entry that had none",
        (tx, id) => only(tx, id, 3).set({ action: "payments.queried" }).execute(),
        { entries: 9, sealedTo: 2, firstBadId: "entry-3" },
      ],
      [
        "an entry hidden from the search",
        (tx, id) => only(tx, id, 5).set({ search: "" }).execute(),
        { entries: 9, sealedTo: 4, firstBadId: "entry-5" },
      ],
      [
        "an entry removed",
        (tx, id) => without(tx, id, 5).execute(),
        { entries: 8, sealedTo: 4, firstBadId: "entry-6" },
      ],
      [
        "the first entries removed as if purged",
        (tx, id) => without(tx, id, 1).execute(),
        { entries: 8, sealedTo: 0, firstBadId: "entry-2" },
      ],
      [
        "the last entry removed",
        (tx, id) => without(tx, id, 9).execute(),
        { entries: 8, sealedTo: 8, fault: "entries_missing" },
      ],
      [
        "its last entry taken away and its head set to the one before",
        async (tx, id) => {
          await without(tx, id, 9).execute();
          const { seq, hash } = (await rowsOf(tx, id)).at(-1) ?? { seq: 0, hash: "" };
          await changeRows(tx, "audit_heads", { tenant_id: id }, { seq, hash });
        },
        { entries: 8, sealedTo: 8, fault: "head_changed" },
      ],
      [
        "an entry added at the end",
        async (tx, id) => {
          const last = (await rowsOf(tx, id)).at(-1);
          if (last === undefined) throw new Error("no such entry");
          const added = { ...last, seq: 10, id: "added", prev_hash: last.hash };
          await tx
            .insertInto("audit_logs")
            .values({ ...added, hash: computeUnkeyedHash(added) })
            .execute();
        },
        { entries: 10, sealedTo: 9, firstBadId: "added" },
      ],
      [
        "an entry added between",
        async (tx, id) => {
          const rows = await rowsOf(tx, id);
          await tx.deleteFrom("audit_logs").where("tenant_id", "=", id).execute();
          const moved = rows.map((row) => (row.seq > 6 ? { ...row, seq: row.seq + 1 } : row));
          const [, , , , , sixth] = rows;
          if (sixth === undefined) throw new Error("no such entry");
          const added = { ...sixth, seq: 7, id: "added", prev_hash: sixth.hash };
          const all = [...moved, { ...added, hash: computeUnkeyedHash(added) }];
          await tx.insertInto("audit_logs").values(all).execute();
        },
        { entries: 10, sealedTo: 6, firstBadId: "added" },
      ],
      [
        "two entries exchanged",
        async (tx, id) => {
          await only(tx, id, 4).set({ seq: 99 }).execute();
          await only(tx, id, 5).set({ seq: 4 }).execute();
          await only(tx, id, 99).set({ seq: 5 }).execute();
        },
        { entries: 9, sealedTo: 3, firstBadId: "entry-5" },
      ],
      [
        "its head taken away",
        (tx, id) => tx.deleteFrom("audit_heads").where("tenant_id", "=", id).execute(),
        { entries: 9, sealedTo: 0, firstBadId: "entry-1", fault: "head_missing" },
      ],
      [
        "its head altered",
        (tx, id) =>
          tx.updateTable("audit_heads").set({ hash: "0" }).where("tenant_id", "=", id).execute(),
        { entries: 9, sealedTo: 9, fault: "head_changed" },
      ],
    ];

  verifies("C-58", "D-AUD-4");
  it.each(TAMPERED.map(([what, tamper, verdict], index) => ({ what, tamper, verdict, index })))(
    "reports a log with $what",
    async ({ tamper, verdict, index }) => {
      const tenantId = `tampered-${index}`;
      await logged(at(), tenantId, 9);
      await at().store.transaction(async (tx) => {
        await tamper(tx, tenantId);
      });
      expect(await verifyAudit(at(), tenantId)).toEqual({
        tenantId,
        ok: false,
        firstBadId: null,
        fault: "entry_changed",
        evidence: null,
        unkeyed: null,
        ...verdict,
      });
    },
  );

  verifies("C-58", "D-AUD-4");
  it("reports each altered field of an entry", async () => {
    const tenantId = "altered";
    await logged(at(), tenantId, 3);
    const [, whole] = await rowsOf(at().store.read, tenantId);
    if (whole === undefined) throw new Error("no such entry");
    const { seq: _place, tenant_id: _whose, ...fields } = whole;
    for (const [field, value] of Object.entries(fields)) {
      const change = (to: unknown) =>
        at().store.transaction((tx) =>
          only(tx, tenantId, 2)
            .set({ [field]: to })
            .execute(),
        );
      await change(typeof value === "number" ? value + 1 : `${value ?? ""}x`);
      expect([field, await verifyAudit(at(), tenantId)]).toMatchObject([
        field,
        { ok: false, sealedTo: 1, firstBadId: field === "id" ? `${whole.id}x` : whole.id },
      ]);
      await change(value);
    }
    expect(await verifyAudit(at(), tenantId)).toMatchObject({ ok: true, sealedTo: 3 });
  });

  verifies("C-58", "D-AUD-4");
  it("reports entries that were moved from another tenant's log", async () => {
    await logged(at(), "giver", 2);
    await logged(at(), "taker", 0);
    await at().store.transaction(async (tx) => {
      await tx.deleteFrom("audit_heads").where("tenant_id", "=", "taker").execute();
      for (const table of ["audit_logs", "audit_heads"] as const) {
        await tx
          .updateTable(table)
          .set({ tenant_id: "taker" })
          .where("tenant_id", "=", "giver")
          .execute();
      }
    });
    const told = { ok: false, firstBadId: "entry-1", sealedTo: 0 };
    expect(await verifyAudit(at(), "taker")).toMatchObject(told);
  });

  verifies("D-AUD-4");
  it("verifies an empty log and refuses an unknown tenant", async () => {
    await logged(at(), "silent", 0);
    expect(await verifyAudit(at(), "silent")).toEqual({
      tenantId: "silent",
      entries: 0,
      sealedTo: 0,
      ok: true,
      firstBadId: null,
      fault: null,
      evidence: null,
      unkeyed: null,
    });
    await expect(verifyAudit(at(), "unknown")).rejects.toThrow("no tenant");
  });

  verifies("D-AUD-4");
  it("verifies after retention has removed the oldest entries", async () => {
    await logged(at(), "kept", 30);
    const before = at().clock();
    at().clock.advance(RETENTION.auditLogs - 10 * DAY);
    expect((await at().platform.purge()).auditEntries).toBeGreaterThanOrEqual(19);
    expect((await rowsOf(at().store.read, "kept")).map(({ id }) => id)).toEqual(
      Array.from({ length: 11 }, (_, index) => `entry-${index + 20}`),
    );
    expect(await verifyAudit(at(), "kept")).toMatchObject({ ok: true, entries: 11, sealedTo: 30 });
    const more = [entry("kept", 31, at().clock())];
    await at().store.transaction((tx) => appendEntries(tx, at().store.auditKey, more));
    at().clock.advance(10 * DAY + HOUR);
    await at().platform.purge();
    expect(await verifyAudit(at(), "kept")).toMatchObject({ ok: true, entries: 1, sealedTo: 31 });
    await at().store.transaction((tx) => without(tx, "kept", 31).execute());
    expect(await verifyAudit(at(), "kept")).toMatchObject({ ok: false, entries: 0, sealedTo: 30 });
    expect(at().clock()).toBeGreaterThan(before);
  });

  verifies("D-AUD-4");
  it("removes an entry only after all entries before it", async () => {
    await logged(at(), "late", 0);
    const moments = [5, 1, 9].map((days) => at().clock() - days * DAY);
    const entries = moments.map((moment, index) => entry("late", index + 1, moment));
    await at().store.transaction((tx) => appendEntries(tx, at().store.auditKey, entries));
    const purged = (days: number) =>
      at().store.transaction((tx) =>
        purgeEntries(tx, at().store.auditKey, "late", at().clock() - days * DAY),
      );
    expect([await purged(6), await purged(4), await purged(4), await purged(0)]).toEqual([
      0, 1, 0, 2,
    ]);
    expect(await verifyAudit(at(), "late")).toMatchObject({ ok: true, entries: 0, sealedTo: 3 });
  });

  verifies("D-AUD-4");
  it("leaves a chain that verifies when several processes purge at once", async () => {
    await logged(at(), "twice", 2500);
    const purging = async () => {
      let removed = 1;
      while (removed > 0) {
        removed = await at().store.transaction((tx) =>
          purgeEntries(tx, at().store.auditKey, "twice", at().clock()),
        );
      }
    };
    await Promise.all([purging(), purging(), purging()]);
    expect(await verifyAudit(at(), "twice")).toMatchObject({ ok: true, entries: 1 });
  });

  verifies("C-41", "C-58");
  it("verifies after requests for schedules whose ids no database stores", async () => {
    const admin = await at().tenant("odd-ids");
    const caller = await at().exportCaller("odd-ids");
    const runs = (id: string) => `/api/v1/remittance-export/export-runs/${id}/data`;
    // Cut to 128 UTF-16 code units, the last one would be half a character.
    const halved = encodeURIComponent(`${"x".repeat(127)}\u{1f600}`);
    expect((await caller("GET", runs("a%00b"))).status).toBe(400);
    expect((await caller("GET", runs(halved))).status).toBe(404);
    const headers = { "X-Platform-Mcp-Tool": "documents_list" };
    const listed = "/api/v1/ingest/documents?status=a%00b";
    expect((await caller("GET", listed, { headers })).status).toBe(422);
    expect((await admin.call("GET", `${DISPUTES}/a%00b`, { headers })).status).toBe(400);
    expect(await verifyAudit(at(), "odd-ids")).toMatchObject({ ok: true, fault: null });
  });
});
