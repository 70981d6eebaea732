import { utimes } from "node:fs/promises";
import { expect, it } from "vitest";
import { DAY, HOUR, formatTimestamp, MINUTE } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { silentLog } from "../../src/kit/log.ts";
import { type RunNeeds } from "../../src/platform/exports/run-job.ts";
import { scheduleJobs } from "../../src/platform/exports/schedule-job.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import type { FileStore } from "../../src/platform/files/port.ts";
import { readTenant } from "../../src/platform/store/queries/tenants.ts";
import { createWorker, type Worker } from "../../src/platform/jobs/worker.ts";
import { changeRows } from "../../src/platform/store/engine/rows.ts";
import { EXPORTS, runsOf, SCHEDULES } from "../support/exports.ts";
import { onEveryStore } from "../support/platform.ts";
import { setUpExportRuns } from "../support/export-runs.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("interrupted export runs", (at) => {
  const { call, schedule, work, data, idsIn, newest, worker, chunkFiles, payments } =
    setUpExportRuns(at);

  const recorded = async (): Promise<number> =>
    (await at().store.read.selectFrom("run_chunks").select("file_key").execute()).length;

  verifies("D-WH-9");
  it("are tried again if their webhook deliveries cannot be recorded", async () => {
    const id = await schedule({ filters: { id: { eq: "payment-1" } } });
    let told = 0;
    const finished = async (): Promise<void> => {
      told += 1;
      if (told === 1) throw new Error("no room for the delivery");
    };
    const one = worker({ finished });
    await one.runDue();
    expect(await newest(id)).toMatchObject({ status: "running", rowCount: 0, completedAt: null });
    at().clock.advance(MINUTE);
    await one.runDue();
    expect(told).toBe(2);
    expect(await newest(id)).toMatchObject({ status: "completed", rowCount: 1 });
    await call("DELETE", `${SCHEDULES}/${id}`);
  });

  verifies("D-SCH-5");
  it("leave room for another tenant if one tenant has long runs", async () => {
    const { connection_id: busy } = await readTenant(at().store.read, "runs");
    const filters = { id: { eq: "payment-1" } };
    const ids = await Promise.all([1, 2, 3].map(() => schedule({ filters })));
    const { promise: gate, resolve: go } = Promise.withResolvers<void>();
    let inside = 0;
    const files = createDiskFiles(at().files);
    const slow: FileStore = {
      ...files,
      async put(key, ...rest) {
        if (key.startsWith(busy)) {
          inside += 1;
          await gate;
        }
        return files.put(key, ...rest);
      },
    };
    const one = worker({ files: slow });
    const running = one.runDue();
    try {
      await expect.poll(() => inside).toBe(2);
      const stranger = await at().exportCaller("runs-other");
      const other = await schedule({}, stranger);
      const again = one.runDue();
      await expect.poll(async () => (await runsOf(stranger, other))[0]?.status).toBe("completed");
      expect(inside).toBe(2);
      go();
      await Promise.all([running, again]);
      await stranger("DELETE", `${SCHEDULES}/${other}`);
    } finally {
      go();
      await running;
    }
    for (const id of ids) {
      expect(await newest(id)).toMatchObject({ status: "completed" });
      await call("DELETE", `${SCHEDULES}/${id}`);
    }
  });

  verifies("D-SCH-3");
  it("are taken over once from a dead process, then fail", async () => {
    const id = await schedule();
    const told: string[] = [];
    const { promise: woken, resolve: wake } = Promise.withResolvers<void>();
    const dead: Promise<void>[] = [];
    const dying = async () => {
      const files = createDiskFiles(at().files);
      const { store } = at();
      const { promise: dies, resolve: died } = Promise.withResolvers<void>();
      let lives = true;
      const frozen = worker({
        store: {
          ...store,
          async transaction(...asked) {
            if (!lives) await woken;
            return store.transaction(...asked);
          },
        },
        files: {
          ...files,
          async put(...asked) {
            await files.put(...asked);
            lives = false;
            died();
            await woken;
            throw new Error("too late");
          },
        },
      });
      dead.push(frozen.runDue());
      await dies;
      at().clock.advance(MINUTE + 1);
    };
    await dying();
    const { runId } = await newest(id);
    await work();
    expect(await newest(id)).toMatchObject({
      runId,
      status: "completed",
      rowCount: await payments(),
    });
    expect(idsIn((await data(id, "?limit=100000")).body)).toHaveLength(await payments());

    at().clock.advance(HOUR);
    await dying();
    await dying();
    await worker({
      finished: async (_tx, run) => {
        told.push(`${run.id} ${run.status}`);
      },
    }).runDue();
    const failed = await newest(id);
    expect(failed).toMatchObject({
      status: "failed",
      errorStage: "internal",
      rowCount: 0,
      completedAt: formatTimestamp(at().clock()),
    });
    expect(told).toEqual([`${failed.runId} failed`]);
    const before = await runsOf(call, id);
    wake();
    await Promise.all(dead);
    expect(await runsOf(call, id)).toEqual(before);
    await call("DELETE", `${SCHEDULES}/${id}`);

    for (const path of await chunkFiles()) await utimes(path, 1, 1);
    await at().platform.sweep();
    expect(await chunkFiles()).toHaveLength(await recorded());
  });

  verifies("D-SCH-3");
  it("are canceled if their schedule is deleted before they begin", async () => {
    const id = await schedule();
    const { store, clock } = at();
    const own = { store, clock, newId: randomId };
    await createWorker({ store, clock, log: silentLog }, [scheduleJobs(own)]).runDue();
    const { runId } = await newest(id);
    expect(await newest(id)).toMatchObject({ status: "pending", startedAt: null });
    await call("DELETE", `${SCHEDULES}/${id}`);
    await work();
    expect(await runsOf(call, id)).toEqual([
      expect.objectContaining({ runId, status: "canceled", rowCount: 0, errorStage: null }),
    ]);
    expect((await data(id, `?runId=${runId}`)).status).toBe(409);
  });

  verifies("D-SCH-4");
  it.each([
    ["validation", { filters: '{"nothing":{"eq":1}}' }, {}, "filters.nothing"],
    ["limit", {}, { limits: { rows: 12_000, ms: HOUR } }, "12000"],
    ["limit", {}, { limits: { rows: 1e6, ms: -1 } }, "longer"],
    ["snapshot", {}, { files: "full" }, "written"],
    ["query", {}, { store: "broken" }, "read"],
  ] as const)(
    "tells the stage %s of a failure, and leaves no file",
    async (stage, stored, how, words) => {
      const before = await chunkFiles();
      const id = await schedule();
      if ("filters" in stored) {
        await changeRows(at().store.read, "schedules", { id }, { filters: stored.filters });
      }
      const files = createDiskFiles(at().files);
      const needs: Partial<RunNeeds> = {};
      if ("limits" in how) needs.limits = how.limits;
      if ("files" in how) {
        let puts = 0;
        needs.files = {
          ...files,
          async put(...asked) {
            puts += 1;
            if (puts === 2) throw new Error("ENOSPC in /secret/place");
            return files.put(...asked);
          },
        };
      }
      if ("store" in how) {
        const { store } = at();
        needs.store = {
          ...store,
          snapshot: async () => Promise.reject(new Error("relation secret does not exist")),
        };
      }
      await worker(needs).runDue();
      const run = await newest(id);
      expect(run).toMatchObject({ status: "failed", errorStage: stage });
      expect(run.completedAt).toBe(formatTimestamp(at().clock()));
      expect(run.errorDetail).toContain(words);
      expect(run.errorDetail).not.toContain("secret");
      expect((await data(id)).status).toBe(404);
      expect(await chunkFiles()).toEqual(before);
      await call("DELETE", `${SCHEDULES}/${id}`);
    },
  );

  verifies("D-SCH-3");
  it("are released by a process that shuts down, and finished by another", async () => {
    const id = await schedule();
    const files = createDiskFiles(at().files);
    const { promise: inside, resolve: reached } = Promise.withResolvers<void>();
    const first: Worker = worker({
      files: {
        ...files,
        async put(...asked) {
          reached();
          return files.put(...asked);
        },
      },
    });
    first.start();
    await inside;
    await first.close();
    expect(await newest(id)).toMatchObject({ status: "running" });
    await work();
    expect(await newest(id)).toMatchObject({ status: "completed", rowCount: await payments() });
    await call("DELETE", `${SCHEDULES}/${id}`);
  });

  verifies("D-SCH-6");
  it("lose their rows and files after thirty days", async () => {
    const id = await schedule({ intervalMs: 300 * DAY });
    await work();
    const { runId } = await newest(id);
    const files = async () => (await chunkFiles()).filter((path) => path.includes(runId));
    expect(await files()).toHaveLength(3);
    at().clock.advance(30 * DAY - 1);
    await at().platform.purge();
    expect((await data(id)).status).toBe(200);
    at().clock.advance(1);
    const old = await data(id, `?runId=${runId}`);
    expect([old.status, old.body.error.code]).toEqual([410, "GONE"]);
    at().clock.advance(1);
    expect((await at().platform.purge()).exportRuns).toBeGreaterThan(0);
    expect(await files()).toEqual([]);
    expect((await data(id)).status).toBe(410);
    const log = await call("GET", `${EXPORTS}/audit-logs?statusCode=410&scheduleId=${id}`);
    expect(log.body.data).toHaveLength(2);
    expect(log.body.data[0]).toMatchObject({
      action: "export.data_read",
      metadata: { runId, status: "completed" },
    });
    expect(await newest(id)).toMatchObject({
      runId,
      status: "completed",
      rowCount: await payments(),
    });
  });

  verifies("SC-10");
  it("keep their files in a sweep at any age", async () => {
    const id = await schedule();
    const files = createDiskFiles(at().files);
    let swept: unknown;
    let sweeping = Promise.resolve();
    const sweep = async (): Promise<void> => {
      for (const path of await chunkFiles()) await utimes(path, 1, 1);
      swept = await at().platform.sweep();
    };
    const careful: FileStore = {
      ...files,
      async put(...asked) {
        const kept = await files.put(...asked);
        // One after the other: several would each count what runs before this one left.
        sweeping = sweeping.then(sweep);
        await sweeping;
        return kept;
      },
    };
    await worker({ files: careful }).runDue();
    expect(swept).toMatchObject({ unknown: 0 });
    expect(idsIn((await data(id, "?limit=100000")).body)).toHaveLength(await payments());
  });
});
