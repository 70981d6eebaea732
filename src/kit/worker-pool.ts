import { isMainThread, Worker } from "node:worker_threads";
import { keepWorkingFolder } from "./working-folder.ts";

const MIB = 1024 * 1024;

/** Thrown when a task exceeds the time or the memory of its thread. */
export class WorkerLimit extends Error {
  readonly exceeded: "time" | "memory";

  constructor(exceeded: "time" | "memory") {
    super(`the thread exceeded its ${exceeded}`);
    this.exceeded = exceeded;
  }
}

/** Answer of a thread: `failure` is why there is no value; `heapBytes` the memory in use afterwards. */
export type WorkerReply<Value> = { heapBytes: number } & ({ value: Value } | { failure: string });

export type WorkerPoolOptions = {
  name: string;
  program: URL;
  /** Time of the processor. */
  maxMs: number;
  /** Time until an answer. It is longer where tasks may wait for a processor. */
  deadlineMs: number;
  maxHeapMib: number;
  /** A thread with more memory in use after a task is ended. */
  maxIdleHeapMib: number;
};

const POLL_MS = 250;
/** An idle thread is kept so long. */
const IDLE_MS = 30_000;

/** Returns the time of the processor that a thread has used, in milliseconds; 0 before it runs. */
const measureCpu = async (thread: Worker): Promise<number> => {
  try {
    const { user, system } = await thread.cpuUsage();
    return (user + system) / 1000;
  } catch {
    return 0;
  }
};

const createThread = ({ name, program, maxHeapMib }: WorkerPoolOptions): Worker => {
  if (isMainThread) keepWorkingFolder();
  const thread = new Worker(program, {
    name,
    stdout: true,
    stderr: true,
    env: {},
    execArgv: ["--no-warnings"],
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMib, maxYoungGenerationSizeMb: 64 },
  });
  thread.unref();
  return thread;
};

/** Keeps idle threads for a while. */
const createIdleThreads = () => {
  const timers = new Map<Worker, NodeJS.Timeout>();
  return {
    take(): Worker | undefined {
      const [thread] = [...timers.keys()].slice(-1);
      if (thread === undefined) return undefined;
      clearTimeout(timers.get(thread));
      timers.delete(thread);
      return thread;
    },
    keep(thread: Worker): void {
      const end = (): void => {
        timers.delete(thread);
        void thread.terminate();
      };
      timers.set(thread, setTimeout(end, IDLE_MS).unref());
    },
  };
};

/**
 * Creates a pool of threads that do one task each, so that the event loop stays free. A thread that exceeds its limits
 * is terminated. An idle thread does not keep the process alive.
 */
export const createWorkerPool = <Value>(options: WorkerPoolOptions) => {
  const { name, maxMs, deadlineMs, maxIdleHeapMib } = options;
  const idle = createIdleThreads();

  /** Runs a task. @throws {WorkerLimit} when it takes too long or too much memory */
  return async (
    request: unknown,
    transferred: readonly unknown[],
    signal?: AbortSignal,
  ): Promise<Value> => {
    const thread = idle.take() ?? createThread(options);
    const { promise, resolve, reject } = Promise.withResolvers<WorkerReply<Value>>();
    const start = performance.now();
    const startedCpuMs = await measureCpu(thread);
    const checkCpu = async (): Promise<void> => {
      if ((await measureCpu(thread)) - startedCpuMs > maxMs) reject(new WorkerLimit("time"));
    };
    const timer = setInterval(() => {
      if (performance.now() - start > deadlineMs) reject(new WorkerLimit("time"));
      void checkCpu();
    }, POLL_MS);
    const cancel = (): void => reject(signal?.reason);
    const fail = (error: Error & { code?: string }): void =>
      reject(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? new WorkerLimit("memory") : error);
    const exit = (): void => reject(new Error(`the thread ${name} ended`));
    signal?.addEventListener("abort", cancel);
    thread.once("message", resolve).once("error", fail).once("exit", exit);
    let isReusable = false;
    try {
      // Node's types do not know that a file handle can be transferred.
      thread.postMessage(request, transferred as never);
      const reply = await promise;
      isReusable = reply.heapBytes < maxIdleHeapMib * MIB;
      if ("failure" in reply) throw new Error(reply.failure);
      return reply.value;
    } finally {
      clearInterval(timer);
      signal?.removeEventListener("abort", cancel);
      thread.off("message", resolve).off("error", fail).off("exit", exit);
      if (isReusable) idle.keep(thread);
      else await thread.terminate();
    }
  };
};
