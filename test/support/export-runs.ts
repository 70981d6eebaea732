import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect } from "vitest";
import { formatTimestamp, HOUR } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { silentLog } from "../../src/kit/log.ts";
import { RUN_LIMITS, type RunNeeds, runJobs } from "../../src/platform/exports/run-job.ts";
import { scheduleJobs } from "../../src/platform/exports/schedule-job.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { createStorageQuota } from "../../src/platform/files/quota.ts";
import { createWorker, type Worker } from "../../src/platform/jobs/worker.ts";
import { countOf, ofTenant } from "../../src/platform/store/engine/rows.ts";
import { everyPayment, EXPORTS, exportingTenant, type Run, runsOf, SCHEDULES } from "./exports.ts";
import type { Caller, TestPlatform } from "./platform.ts";

/** Creates the tenants `runs`, with many payments, and `runs-other`; returns the steps of tests about runs. */
export const setUpExportRuns = (at: () => TestPlatform, count = 25_000) => {
  let caller: Caller;
  beforeAll(async () => {
    caller = await exportingTenant(at(), "runs", count);
    await exportingTenant(at(), "runs-other", 3);
  }, 60_000);

  const call: Caller = (...sent) => caller(...sent);

  const schedule = async (body: object = {}, who = call): Promise<string> => {
    const due = { firstRunAt: formatTimestamp(at().clock()), intervalMs: HOUR };
    const made = await who("POST", SCHEDULES, { body: { ...everyPayment, ...due, ...body } });
    expect(made.status, made.text).toBe(201);
    return made.body.id;
  };

  const work = () => at().platform.worker.runDue();

  const data = (id: string, query = "", who = call) =>
    who("GET", `${EXPORTS}/export-runs/${id}/data${query}`);

  const idsIn = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);

  const newest = async (id: string): Promise<Run> => {
    const [run] = await runsOf(call, id);
    if (run === undefined) throw new Error("no run");
    return run;
  };

  /** Another process on the same store, with needs of its own. */
  const worker = (needs: Partial<RunNeeds>): Worker => {
    const { clock } = at();
    const { store = at().store } = needs;
    const files = createDiskFiles(at().files);
    const finished = async () => {};
    const own = { store, files, clock, newId: randomId, log: silentLog };
    const quota = createStorageQuota(store, Infinity);
    return createWorker({ store, clock, log: silentLog }, [
      scheduleJobs(own),
      runJobs({ ...own, limits: RUN_LIMITS, quota, finished, ...needs }),
    ]);
  };

  const chunkFiles = async (): Promise<string[]> => {
    const entries = await readdir(at().files, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && entry.parentPath.includes("export-runs"))
      .map((entry) => join(entry.parentPath, entry.name));
  };

  const payments = () => countOf(ofTenant(at().store.read, "cashapp_payments", "runs"));

  return { call, schedule, work, data, idsIn, newest, worker, chunkFiles, payments };
};
