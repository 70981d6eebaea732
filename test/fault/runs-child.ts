import { join } from "node:path";
import { openChildStore } from "../support/child-store.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createLog } from "../../src/kit/log.ts";
import { createFinished } from "../../src/platform/exports/finished.ts";
import { createStorageQuota } from "../../src/platform/files/quota.ts";
import { RUN_LIMITS, runJobs } from "../../src/platform/exports/run-job.ts";
import { scheduleJobs } from "../../src/platform/exports/schedule-job.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import type { FileStore } from "../../src/platform/files/port.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { createWorker } from "../../src/platform/jobs/worker.ts";

// Works the exports that are due at each moment in turn, and kills itself at the step of this number; 0: never.
const turns = process.argv.slice(2).map((turn) => turn.split(":").map(Number));
let [now = 0, last = 0] = turns[0] ?? [];
const { RECEIVABLES_DATA: dataFolder = "" } = process.env;
const real = await openChildStore();

let steps = 0;
const step = (): void => {
  steps += 1;
  if (steps === last) process.kill(process.pid, "SIGKILL");
};

const store: Store = {
  ...real,
  async transaction(act, queue) {
    step();
    const result = await real.transaction(async (tx) => {
      const made = await act(tx);
      step();
      return made;
    }, queue);
    step();
    return result;
  },
};
const disk = createDiskFiles(join(dataFolder, "files"));
const files: FileStore = {
  ...disk,
  async put(key, bytes, maxBytes) {
    const broken = async function* () {
      for await (const chunk of bytes) {
        yield chunk.subarray(0, chunk.length / 2);
        step();
        yield chunk.subarray(chunk.length / 2);
      }
    };
    const kept = await disk.put(key, broken(), maxBytes);
    step();
    return kept;
  },
};

const clock = () => now;
const log = createLog("error");
const needs = { store, files, clock, newId: randomId, log };
const quota = createStorageQuota(store, Infinity);
const kinds = [
  scheduleJobs(needs),
  runJobs({ ...needs, limits: RUN_LIMITS, quota, finished: createFinished(needs) }),
];
for ([now = 0, last = 0] of turns) {
  steps = 0;
  const worker = createWorker({ store, clock, log }, kinds);
  await worker.runDue();
  await worker.close();
}
await real.close();
process.stdout.write(String(steps));
