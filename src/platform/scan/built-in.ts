import { spool } from "../../kit/bytes.ts";
import { SECOND } from "../../kit/clock.ts";
import { createWorkerPool, WorkerLimit } from "../../kit/worker-pool.ts";
import { checkNameAndSize } from "./names.ts";
import { type ScannedFile, type Scanner, toVerdict, type Verdict } from "./port.ts";
import { createLimitRefusal } from "./scan-context.ts";
import type { ScanRequest } from "./worker.ts";

/** No file keeps a thread busy for longer. */
const MAX_MS = 9 * SECOND;

const checkInThread = createWorkerPool<Verdict>({
  name: "scan",
  // In the bundle, the worker's file lies next to the other chunks.
  program: new URL(
    import.meta.url.endsWith(".ts") ? "./worker.ts" : "scan-worker.js",
    import.meta.url,
  ),
  maxMs: MAX_MS,
  // On a busy machine, a scan waits for a processor.
  deadlineMs: 4 * MAX_MS,
  maxHeapMib: 160,
  // Parsers keep tables of names.
  maxIdleHeapMib: 64,
});

/** Yields a file's bytes, and throws unless there are exactly as many as recorded. */
async function* readExactly({ size, open }: ScannedFile): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const chunk of await open()) {
    count += chunk.byteLength;
    if (count > size) break;
    yield chunk;
  }
  if (count !== size) throw new Error(`the file's size differs from the ${size} bytes recorded`);
}

/**
 * Scans files by their contents: they must be of the claimed type, and hold no program, script, macro or other
 * content of a short list of dangers. It knows no malware but the test file EICAR. The file is spooled to disk,
 * and read by a thread with a deadline.
 */
export const builtInScanner: Scanner = {
  scan: (file) =>
    toVerdict(async () => {
      const type = checkNameAndSize(file);
      const spooled = await spool(readExactly(file));
      try {
        const request: ScanRequest = { type, ...spooled };
        return await checkInThread(request, [spooled.file]);
      } catch (error) {
        if (!(error instanceof WorkerLimit)) throw error;
        const what = error.exceeded === "time" ? `over ${MAX_MS / SECOND} seconds` : "much memory";
        throw createLimitRefusal(`The file takes ${what} to check. Split it, or simplify it.`);
      }
    }),
};
