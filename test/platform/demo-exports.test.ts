import { beforeAll, expect, it } from "vitest";
import { contract } from "../../src/contract/index.ts";
import { DAY, HOUR, formatTimestamp } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { verifyAudit } from "../../src/platform/admin/audit.ts";
import { loadDemo } from "../../src/platform/demo/load.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { EXPORTS, runsOf, SCHEDULES } from "../support/exports.ts";
import { documentAt } from "../support/ingest.ts";
import { onEveryStore, useExportCaller } from "../support/platform.ts";

const FILTERS = { shortPay: { eq: true }, disputeId: { isNull: false } };

const FOUND = ["accountNumber", "documentNumber", "deductionAmount", "disputeId"];

onEveryStore("what the demo tenant exports", (at) => {
  const call = useExportCaller(at, "demo");
  const ingest = useExportCaller(at, "demo", ["ingest:read"]);

  beforeAll(async () => {
    const { store, clock, files } = at();
    await loadDemo({ store, files: createDiskFiles(files), clock, newId: randomId });
  });

  const query = async (body: object) => {
    const reply = await call("POST", `${EXPORTS}/payments/query`, { body });
    expect(reply.status, reply.text).toBe(200);
    return reply.body.data;
  };

  const onlySchedule = async () => {
    const { body } = await call("GET", SCHEDULES);
    expect(body.data).toHaveLength(1);
    return contract.schedules.list.output.parse(body).data[0];
  };

  it("has hundreds of payments of every source", async () => {
    const counts = await Promise.all(
      ["cashapp", "iandp", "bpn"].map(
        async (source) => (await query({ source, fields: ["id"], limit: 5000 })).length,
      ),
    );
    expect(Math.min(...counts)).toBeGreaterThan(200);
  });

  it("finds a short payment, its document and the dispute about the difference", async () => {
    const rows = await query({ source: "cashapp", fields: FOUND, filters: FILTERS });
    expect(rows.length).toBeGreaterThan(60);
    const { read } = at().store;
    const disputes = await read.selectFrom("disputes").selectAll().execute();
    for (const row of rows.slice(0, 20)) {
      const dispute = disputes.find(({ id }) => id === row.disputeId);
      expect(dispute).toMatchObject({
        document_number: row.documentNumber,
        account_number: row.accountNumber,
        amount_order: row.deductionAmount,
      });
      const { status, body } = await ingest("GET", documentAt(row.documentNumber));
      expect([status, body.account_number]).toEqual([200, row.accountNumber]);
    }
  });

  it("has runs with the rows that existed at their time", async () => {
    const schedule = await onlySchedule();
    const runs = await runsOf(call, schedule?.id ?? "");
    expect(runs.map(({ status }) => status)).toEqual([
      "completed",
      "completed",
      "failed",
      "completed",
    ]);
    for (const { runId, status, rowCount, startedAt } of runs) {
      const path = `${EXPORTS}/export-runs/${schedule?.id}/data?runId=${runId}`;
      const reply = await call("GET", path);
      expect(reply.status).toBe(status === "completed" ? 200 : 409);
      if (status !== "completed") continue;
      const expected = await query({
        source: "cashapp",
        filters: { shortPay: { eq: true }, createdAt: { lte: startedAt } },
        fields: schedule?.fields,
      });
      expect(reply.body.data).toEqual(expected);
      expect(rowCount).toBe(expected.length);
      expect(rowCount).toBeGreaterThan(60);
    }
  });

  it("has a valid audit log, with entries from before actions had names", async () => {
    const verdict = await verifyAudit(at(), "demo");
    expect(verdict).toMatchObject({ ok: true, firstBadId: null });
    expect(verdict.entries).toBeGreaterThan(400);
    const reader = await at().exportCaller("demo", ["audit:read"]);
    const to = formatTimestamp(at().clock() - 60 * DAY);
    const { body, status } = await reader("GET", `${EXPORTS}/audit-logs?to=${to}&limit=1000`);
    expect(status).toBe(200);
    expect(body.data.length).toBeGreaterThan(50);
    expect(body.data.every((entry: object) => !("action" in entry))).toBe(true);
  });

  it("runs its schedule at its next slot", async () => {
    const schedule = await onlySchedule();
    const { clock, platform } = at();
    clock.set(formatTimestamp(Date.parse(schedule?.nextRunAt ?? "") + HOUR));
    await platform.worker.runDue();
    await platform.worker.runDue();
    const [newest, before] = await runsOf(call, schedule?.id ?? "");
    expect(newest?.status).toBe("completed");
    expect(newest?.rowCount).toBeGreaterThanOrEqual(before?.rowCount ?? Infinity);
    expect((await onlySchedule())?.nextRunAt).toBe(
      formatTimestamp(Date.parse(schedule?.nextRunAt ?? "") + 7 * DAY),
    );
  });
});
