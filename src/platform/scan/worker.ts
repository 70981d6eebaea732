import type { FileHandle } from "node:fs/promises";
import { parentPort } from "node:worker_threads";
import type { Extension } from "../../contract/file-types.ts";
import { toBytes } from "../../kit/bytes.ts";
import { getMessage } from "../../kit/error.ts";
import type { WorkerReply } from "../../kit/worker-pool.ts";
import { inspectUpload } from "./inspect.ts";
import { toVerdict, type Verdict } from "./port.ts";

/** A file to check; the handle is transferred to the thread, which closes it. */
export type ScanRequest = { type: Extension; size: number; file: FileHandle };

const check = async ({ type, size, file }: ScanRequest): Promise<WorkerReply<Verdict>> => {
  const heapBytes = (): number => process.memoryUsage().heapUsed;
  try {
    const value = await toVerdict(() => inspectUpload(type, toBytes(file, size)));
    return { value, heapBytes: heapBytes() };
  } catch (error) {
    return { failure: getMessage(error), heapBytes: heapBytes() };
  } finally {
    await file.close();
  }
};

parentPort?.on("message", (request: ScanRequest) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  void check(request).then((reply) => parentPort?.postMessage(reply));
});
