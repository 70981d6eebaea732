import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serveOurs } from "./ours.ts";
import { serveLoop, serveSdk1 } from "./peers.ts";

// Serves one of the programs and, beside it, what it has cost so far; ends when its input does.
const programs = { ours: serveOurs, loop: serveLoop, sdk1: serveSdk1 };
const served = await programs[process.argv[2] as keyof typeof programs]();

const spent = (): { cpuMs: number; heapMb: number } => {
  const { user, system } = process.cpuUsage();
  globalThis.gc?.();
  return { cpuMs: (user + system) / 1000, heapMb: process.memoryUsage().heapUsed / 2 ** 20 };
};

const control = createServer((_request, response) => {
  response.end(JSON.stringify(spent()));
});
await new Promise<void>((resolve) => {
  control.listen(0, "127.0.0.1", resolve);
});
const controlUrl = `http://127.0.0.1:${(control.address() as AddressInfo).port}`;
process.stdout.write(`${JSON.stringify({ url: served.url, controlUrl })}\n`);

process.stdin.resume().on("end", async () => {
  control.close();
  await served.close();
});
