import type { FileHandle } from "node:fs/promises";
import { parentPort } from "node:worker_threads";
import type { Extension } from "../../contract/file-types.ts";
import { getMessage } from "../../kit/error.ts";
import { toBytes } from "./bytes.ts";
import { inspectUpload } from "./inspect.ts";
import { toVerdict, type Verdict } from "./port.ts";

/** A file to check; the handle is transferred to the thread, which closes it. */
export type ScanRequest = { type: Extension; size: number; file: FileHandle };
/** `failure`: why there is no verdict. */
export type ScanReply = { verdict: Verdict } | { failure: string };

const check = async ({ type, size, file }: ScanRequest): Promise<ScanReply> => {
  try {
    return { verdict: await toVerdict(() => inspectUpload(type, toBytes(file, size))) };
  } catch (error) {
    return { failure: getMessage(error) };
  } finally {
    await file.close();
  }
};

parentPort?.on("message", (request: ScanRequest) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  void check(request).then((reply) => parentPort?.postMessage(reply));
});
