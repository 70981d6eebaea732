import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DAY, HOUR, formatTimestamp, MINUTE } from "../../src/kit/clock.ts";
import { createStorageQuota } from "../../src/platform/files/quota.ts";
import { RUN_JOB } from "../../src/platform/exports/schedule-job.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import type { FileStore } from "../../src/platform/files/port.ts";
import { changeRows, removeRows } from "../../src/platform/store/engine/rows.ts";
import type { Store } from "../../src/platform/store/port.ts";
import {
  addPayments,
  everyPayment,
  EXPORTS,
  exportingTenant,
  paymentIds,
  type Run,
  runsOf,
  SCHEDULES,
} from "../support/exports.ts";
import { alterToken } from "../support/alter-token.ts";
import { onEveryStore } from "../support/platform.ts";
import { setUpExportRuns } from "../support/export-runs.ts";
import { findRows } from "../support/rows.ts";
import { verifies } from "../support/verifies.ts";

const CHUNK = 10_000;

onEveryStore("export runs", (at) => {
  const { call, schedule, work, data, idsIn, newest, worker, chunkFiles, payments } =
    setUpExportRuns(at);

  verifies("SC-10", "SC-13", "SC-15");
  it("store the rows of one instant, paged and whole", async () => {
    const id = await schedule();
    await work();
    const run = await newest(id);
    const now = formatTimestamp(at().clock());
    expect(run).toEqual({
      runId: expect.any(String),
      scheduleId: id,
      status: "completed",
      startedAt: now,
      completedAt: now,
      rowCount: 25_000,
      errorStage: null,
      errorDetail: null,
    });
    await addPayments({ store: at().store, now: at().clock() }, "runs", { from: 90_000, count: 7 });
    await changeRows(
      at().store.read,
      "cashapp_payments",
      { tenant_id: "runs" },
      {
        payment_amount: "99",
      },
    );
    const first = await data(id);
    expect(Object.keys(first.body)).toEqual([
      "runId",
      "scheduleId",
      "status",
      "completedAt",
      "data",
      "pagination",
    ]);
    expect(first.body).toMatchObject({
      runId: run.runId,
      status: "completed",
      completedAt: now,
      pagination: { cursor: expect.any(String), hasMore: true, rowCount: 500 },
    });
    expect(first.body.data[0]).toEqual({
      id: "payment-1",
      payerName: 'Müller & "Söhne",\n Ltd',
      paymentAmount: 10,
    });
    const all = await data(id, "?limit=100000");
    expect(all.body.pagination).toEqual({ cursor: null, hasMore: false, rowCount: 25_000 });
    expect(idsIn(all.body)).toEqual(paymentIds(1, 25_000));
    const ids: string[] = [];
    let cursor = "";
    do {
      const { body } = await data(id, `?limit=7000${cursor}`);
      ids.push(...idsIn(body));
      cursor = body.pagination.cursor === null ? "" : `&cursor=${body.pagination.cursor}`;
      expect(body.pagination.hasMore).toBe(cursor !== "");
    } while (cursor !== "");
    expect(ids).toEqual(paymentIds(1, 25_000));
    for (const limit of ["0", "100001", "1.5", "x"]) {
      expect((await data(id, `?limit=${limit}`)).status).toBe(400);
    }
    expect((await data(id, "?colour=red")).status).toBe(400);
    await call("DELETE", `${SCHEDULES}/${id}`);
  });

  verifies("SC-13");
  it("read only the files of a page's own rows", async () => {
    const id = await schedule();
    await work();
    const { runId } = await newest(id);
    const chunks = await findRows(at().store.read, "run_chunks", { run_id: runId }, "number");
    expect(chunks.map(({ first_row, row_count }) => [first_row, row_count])).toEqual([
      [0, CHUNK],
      [CHUNK, CHUNK],
      [2 * CHUNK, (await payments()) - 2 * CHUNK],
    ]);
    const { cursor } = (await data(id, "?limit=12000")).body.pagination;
    for (const chunk of [chunks[0], chunks[2]]) {
      await writeFile(join(at().files, chunk?.file_key ?? ""), "gone");
    }
    const middle = await data(id, `?limit=5000&cursor=${cursor}`);
    expect(idsIn(middle.body)).toEqual(paymentIds(12_001, 5000));
    await call("DELETE", `${SCHEDULES}/${id}`);
  });

  verifies("D-SCH");
  it("refuse a snapshot with an altered byte, and serve nothing of it", async () => {
    const id = await schedule();
    await work();
    const { runId } = await newest(id);
    const file = (await chunkFiles()).find((path) => path.includes(runId) && path.endsWith("-0"));
    const bytes = await readFile(file ?? "");
    bytes[100] = (bytes[100] ?? 0) ^ 1;
    await writeFile(file ?? "", bytes);
    const reply = await data(id);
    expect([reply.status, reply.body.error.code]).toEqual([500, "INTERNAL"]);
    expect(reply.text).not.toContain("payment-");
    await expect(data(id, "?limit=100000")).resolves.toMatchObject({ status: 500 });
    await call("DELETE", `${SCHEDULES}/${id}`);
  });

  verifies("SC-11", "SC-12");
  it("return the named run, else the one that completed last", async () => {
    const id = await schedule({ filters: { id: { in: ["payment-1", "payment-new"] } } });
    expect((await data(id)).status).toBe(404);
    await work();
    const first = await newest(id);
    await addPayments({ store: at().store, now: at().clock() }, "runs", { from: 99_999, count: 1 });
    await changeRows(
      at().store.read,
      "cashapp_payments",
      { id: "payment-99999" },
      {
        id: "payment-new",
        id_folded: "payment-new",
      },
    );
    at().clock.advance(HOUR);
    await work();
    const second = await newest(id);
    expect(second.runId).not.toBe(first.runId);
    expect(idsIn((await data(id)).body)).toEqual(["payment-1", "payment-new"]);
    expect(idsIn((await data(id, `?runId=${first.runId}`)).body)).toEqual(["payment-1"]);
    const { cursor } = (await data(id, `?runId=${second.runId}&limit=1`)).body.pagination;

    at().clock.advance(HOUR);
    await worker({ limits: { rows: 1, ms: HOUR } }).runDue();
    const third = await newest(id);
    expect(third).toMatchObject({ status: "failed", errorStage: "limit" });
    expect((await data(id)).body.runId).toBe(second.runId);
    const failed = await data(id, `?runId=${third.runId}`);
    expect([failed.status, failed.body.error.code]).toEqual([409, "CONFLICT"]);

    at().clock.advance(HOUR);
    await worker({ quota: createStorageQuota(at().store, 1) }).runDue();
    expect(await newest(id)).toMatchObject({
      status: "failed",
      errorStage: "limit",
      errorDetail: expect.stringContaining("RECEIVABLES_TENANT_FILE_MIB"),
    });

    at().clock.advance(HOUR);
    await work();
    const next = await data(id, `?limit=1&cursor=${cursor}`);
    expect([next.body.runId, idsIn(next.body)]).toEqual([second.runId, ["payment-new"]]);
    expect((await data(id, `?runId=${first.runId}&cursor=${cursor}`)).status).toBe(400);
    expect((await data(id, `?cursor=${alterToken(cursor)}`)).status).toBe(400);
    expect((await data(id, "?runId=unknown")).status).toBe(404);
    expect((await data("unknown")).status).toBe(404);
    const stranger = await at().exportCaller("runs-other");
    expect((await data(id, `?runId=${first.runId}`, stranger)).status).toBe(404);
    const other = await schedule({}, stranger);
    expect((await data(other, `?runId=${first.runId}`, stranger)).status).toBe(404);
    expect((await data(other, `?cursor=${cursor}`, stranger)).status).toBe(400);

    const sibling = await schedule();
    expect((await data(sibling, `?runId=${first.runId}`)).status).toBe(404);
    expect((await data(sibling, `?cursor=${cursor}`)).status).toBe(400);

    const status = (query: string, of = id, who = call) =>
      who("GET", `${EXPORTS}/export-runs/${of}/status${query}`);
    const page = async (query: string) => (await status(query)).body;
    const one = await page("?limit=4");
    const after = `?cursor=${one.pagination.cursor}`;
    expect((await status(after, sibling)).status).toBe(400);
    expect((await status(after, other, stranger)).status).toBe(400);
    expect((await status(after.replace("=", "=A"))).status).toBe(400);
    expect((await status(`?cursor=${cursor}`)).status).toBe(400);
    await call("DELETE", `${SCHEDULES}/${sibling}`);
    const rest = await page(`?limit=4&cursor=${one.pagination.cursor}`);
    expect(one.data.map(({ status }: Run) => status)).toEqual([
      "completed",
      "failed",
      "failed",
      "completed",
    ]);
    expect(rest.data.map(({ runId }: Run) => runId)).toEqual([first.runId]);
    expect(rest.pagination).toEqual({ cursor: null, hasMore: false, rowCount: 1 });
    await call("DELETE", `${SCHEDULES}/${id}`);
    await stranger("DELETE", `${SCHEDULES}/${other}`);
  });

  verifies("SC-16", "D-SCH-5");
  it("combine missed slots to one run, and keep the times of later slots", async () => {
    const start = at().clock();
    const id = await schedule({ filters: { id: { eq: "payment-1" } } });
    const { store } = at();
    await work();
    at().clock.advance(5 * HOUR + 7 * MINUTE);
    await work();
    await work();
    at().clock.advance(53 * MINUTE);
    await work();
    const runs = await findRows(store.read, "export_runs", { schedule_id: id }, "slot_at");
    expect(runs.map(({ slot_at }) => (slot_at - start) / HOUR)).toEqual([0, 1, 6]);
    const { body } = await call("GET", `${EXPORTS}/export-runs/${id}/status`);
    expect(body.schedule.nextRunAt).toBe(formatTimestamp(start + 7 * HOUR));
    await call("DELETE", `${SCHEDULES}/${id}`);
  });

  verifies("SC-16");
  it("run each slot once, one at a time, with any number of processes", async () => {
    const start = at().clock();
    const ids: string[] = [];
    for (let made = 0; made < 6; made += 1) {
      ids.push(await schedule({ filters: { id: { eq: "payment-1" } } }));
    }
    const workers = Array.from({ length: 4 }, () => worker({}));
    for (let slot = 0; slot < 3; slot += 1) {
      await Promise.all(workers.map((one) => one.runDue()));
      at().clock.advance(HOUR);
    }
    for (const id of ids) {
      const slots = await findRows(at().store.read, "export_runs", { schedule_id: id }, "slot_at");
      expect(slots.map(({ slot_at, status }) => [(slot_at - start) / HOUR, status])).toEqual([
        [0, "completed"],
        [1, "completed"],
        [2, "completed"],
      ]);
      await call("DELETE", `${SCHEDULES}/${id}`);
    }
  });

  verifies("D-SCH-5");
  it("skip a slot while a run of the schedule is active", async () => {
    const id = await schedule({ intervalMs: 5 * MINUTE });
    const { promise: entered, resolve: inside } = Promise.withResolvers<void>();
    const { promise: gate, resolve: go } = Promise.withResolvers<void>();
    const files = createDiskFiles(at().files);
    const slow: FileStore = {
      ...files,
      async put(...asked) {
        inside();
        await gate;
        return files.put(...asked);
      },
    };
    const running = worker({ files: slow }).runDue();
    await entered;
    expect(await newest(id)).toMatchObject({ status: "running", rowCount: 0, completedAt: null });
    const early = await data(id, `?runId=${(await newest(id)).runId}`);
    expect([early.status, early.body.error.code]).toEqual([409, "CONFLICT"]);
    // The lease is renewed by real time, which passes too slowly for this clock.
    await changeRows(
      at().store.read,
      "jobs",
      { kind: RUN_JOB },
      { leased_until: at().clock() + DAY },
    );
    at().clock.advance(11 * MINUTE);
    await work();
    expect(await runsOf(call, id)).toHaveLength(1);
    go();
    await running;
    expect((await runsOf(call, id)).map(({ status }) => status)).toEqual(["completed"]);
    at().clock.advance(5 * MINUTE);
    await work();
    expect(await runsOf(call, id)).toHaveLength(2);
    await call("DELETE", `${SCHEDULES}/${id}`);
  });

  verifies("C-12", "SC-10");
  it("exclude changes after the run began to read", async () => {
    const who = await exportingTenant(at(), "runs-meanwhile", 30);
    const id = await schedule({}, who);
    const { store } = at();
    const rows = (tx: Store["read"]) =>
      tx.updateTable("cashapp_payments").where("tenant_id", "=", "runs-meanwhile");
    const hurried: Store = {
      ...store,
      async snapshot() {
        const snapshot = await store.snapshot({ owner: "test" });
        // Its moment is that of the first read.
        await snapshot.db.selectFrom("payment_sequences").selectAll().execute();
        await store.transaction(async (tx) => {
          await rows(tx)
            .set({ payer_name: "Changed meanwhile" } as never)
            .execute();
          await removeRows(tx, "cashapp_payments", {
            tenant_id: "runs-meanwhile",
            id: "payment-30",
          });
        });
        return snapshot;
      },
    };
    await worker({ store: hurried }).runDue();
    const { body } = await data(id, "", who);
    expect(idsIn(body)).toEqual(paymentIds(1, 30));
    const names = (body.data as { payerName: string }[]).map(({ payerName }) => payerName);
    expect(names).not.toContain("Changed meanwhile");
    const left = await who("POST", `${EXPORTS}/payments/query`, { body: everyPayment });
    expect(left.body.data).toHaveLength(29);
    expect(left.body.data[0].payerName).toBe("Changed meanwhile");
    await who("DELETE", `${SCHEDULES}/${id}`);
  });
});
