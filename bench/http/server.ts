import { readCpuMs } from "../measure.ts";
import { announce, serveBare } from "../serving.ts";
import { serveOurs } from "./ours.ts";
import { serveLoop, serveSdk1 } from "./peers.ts";

// Serves one of the programs and, beside it, what it has cost so far; ends when its input does.
const programs = { ours: serveOurs, loop: serveLoop, sdk1: serveSdk1 };
const served = await programs[process.argv[2] as keyof typeof programs]();

const control = await serveBare((_request, response) => {
  const cpuMs = readCpuMs();
  globalThis.gc?.();
  response.end(JSON.stringify({ cpuMs, heapMb: process.memoryUsage().heapUsed / 2 ** 20 }));
});

announce({ url: served.url, controlUrl: control.url }, async () => {
  await control.close();
  await served.close();
});
