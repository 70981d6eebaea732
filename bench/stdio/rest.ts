import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { startCli, whenReady } from "../../test/support/cli.ts";
import { atMost, type Benchmark, interleaved } from "../measure.ts";
import { readMemoryMibOf } from "../process.ts";
import { type Command, greet, type Host, resultIn, startHost } from "./host.ts";
import { type Programs, withPrograms } from "./programs.ts";

const FIRST_CALL_MS = 1000;
const STDIO_MIB = 80;
const HTTP_MIB = 140;
const REST_MS = 2000;
const MOST_RUNS = 5;

/** Starts a program, and ends it after it was used. */
const using = async <T>(command: Command, act: (host: Host) => Promise<T>): Promise<T> => {
  const host = startHost(command);
  try {
    return await act(host);
  } finally {
    await host.end();
  }
};

const callOnce = async (programs: Programs): Promise<number> => {
  const began = performance.now();
  return using(programs.ours(), async (host) => {
    await greet(host);
    const call = { name: "disputes_list", arguments: { PageSize: 1 } };
    resultIn(await host.request("tools/call", call));
    return performance.now() - began;
  });
};

const listAndRest = (command: Command): Promise<number> =>
  using(command, async (host) => {
    await greet(host);
    resultIn(await host.request("tools/list"));
    await setTimeout(REST_MS);
    return host.memoryMib();
  });

/** A server over HTTP that has loaded the demo tenant. */
const serveAndRest = async ({ ours }: Programs): Promise<number> => {
  const { args, env } = ours();
  const server = startCli(["http", "--port", "0"], env, args[0]);
  await whenReady(server);
  await setTimeout(REST_MS);
  const mib = readMemoryMibOf(server.pid);
  await server.end("SIGTERM");
  return mib;
};

/** Against a fixed limit, on an empty data folder each time. */
const limited = (
  benchmark: Pick<Benchmark, "name" | "about" | "unit" | "why">,
  most: number,
  measure: (programs: Programs) => Promise<number>,
): Benchmark => ({
  ...benchmark,
  aim: 1,
  run: (options) =>
    withPrograms((programs) =>
      interleaved(
        {
          async ours() {
            await rm(join(programs.folder, "data"), { recursive: true, force: true });
            return measure(programs);
          },
          base: () => most,
        },
        atMost(MOST_RUNS, options),
      ),
    ),
});

/** What a program costs that was just installed, or that waits. */
export const restBenchmarks: readonly Benchmark[] = [
  limited(
    {
      name: "first-call",
      about: `spawn on an empty data folder to the answer of the first call / ${FIRST_CALL_MS} ms`,
      unit: "ms",
      why: "nearly all of it is processor time: about a quarter each for loading the code, for reading the demo tenant's 7,500 records and for writing them, and a sixth for the schema",
    },
    FIRST_CALL_MS,
    callOnce,
  ),
  limited(
    {
      name: "memory-stdio",
      about: `memory at rest after tools/list / ${STDIO_MIB} MiB`,
      unit: "MiB",
    },
    STDIO_MIB,
    (programs) => listAndRest(programs.ours()),
  ),
  limited(
    {
      name: "memory-http",
      about: `memory at rest of the server over HTTP with the demo tenant / ${HTTP_MIB} MiB`,
      unit: "MiB",
    },
    HTTP_MIB,
    serveAndRest,
  ),
];
