import { setFlagsFromString } from "node:v8";
import { isMainThread } from "node:worker_threads";
import { runInNewContext } from "node:vm";

// Loaded before the program: at SIGUSR2 a process collects its garbage and says how much memory it needs.
if (isMainThread) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  process.on("SIGUSR2", () => {
    collect();
    // What finalizers released is collected in a second pass.
    setImmediate(() => {
      collect();
      const { heapUsed, external, rss } = process.memoryUsage();
      process.stderr.write(`${JSON.stringify({ event: "memory", heapUsed, external, rss })}\n`);
    });
  });
}
