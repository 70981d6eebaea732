import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { type Benchmark, interleaved, type Options, type Samples } from "../measure.ts";
import { type Command, type Era, greet, startHost } from "./host.ts";
import { listOf, type Programs, withPrograms } from "./programs.ts";

type Cost = { wallMs: number; cpuMs: number };

/** From nothing to the first answer of `tools/list`. */
const start = async (command: Command, era: Era): Promise<Cost> => {
  const began = performance.now();
  const host = startHost(command, era);
  await greet(host, era);
  await host.request("tools/list");
  const wallMs = performance.now() - began;
  const cpuMs = host.cpuMs();
  await host.end();
  return { wallMs, cpuMs };
};

/** Takes the files of a folder out of the machine's disk cache, as they are after it was switched on. */
const dropFromDiskCache = (folder: string): void => {
  for (const { parentPath, name } of globSync("**/*", { cwd: folder, withFileTypes: true }).filter(
    (entry) => entry.isFile(),
  )) {
    const file = join(parentPath, name);
    // Unwritten pages stay in the cache, so they are written first.
    execFileSync("dd", [
      `of=${file}`,
      "oflag=nocache",
      "conv=notrunc,fdatasync",
      "count=0",
      "status=none",
    ]);
  }
};

const compare =
  (of: keyof Cost, choose: (programs: Programs) => Command, era: Era = "2025") =>
  (options: Options) =>
    withPrograms(async (programs): Promise<Samples> => {
      const ours = choose(programs);
      const base = await programs.peer("loop", await listOf(ours));
      const cost = (command: Command) => async () => (await start(command, era))[of];
      return interleaved({ ours: cost(ours), base: cost(base) }, options);
    });

// Nothing listens at this address: listing tools must not need the platform.
const REMOTE = {
  RECEIVABLES_BASE_URL: "http://127.0.0.1:9",
  RECEIVABLES_API_KEY: "a-key-for-nobody",
  RECEIVABLES_TENANT_ID: "tenant",
};

const AIM = 2.5;
const LOOP = "a hand-written JSON-RPC loop";

const embedded = (programs: Programs): Command => programs.ours();
const remote = (programs: Programs): Command => programs.ours(REMOTE);
// As on the very first start after an installation.
const first = (programs: Programs): Command => programs.ours({ NODE_DISABLE_COMPILE_CACHE: "1" });

export const startBenchmarks: readonly Benchmark[] = [
  {
    name: "start",
    about: `spawn to first tools/list, against ${LOOP}`,
    unit: "ms",
    aim: AIM,
    run: compare("wallMs", embedded),
  },
  {
    name: "start-cpu",
    about: "the same, CPU time of the process",
    unit: "ms CPU",
    aim: AIM,
    run: compare("cpuMs", embedded),
  },
  {
    name: "start-remote",
    about: "the same with a remote platform configured",
    unit: "ms CPU",
    aim: AIM,
    why: "the process loads the same code as for `start-cpu` and needs the same time, up to what other load on the machine changes",
    run: compare("cpuMs", remote),
  },
  {
    name: "start-2026",
    about: "the same in the era of 2026",
    unit: "ms CPU",
    aim: AIM,
    run: compare("cpuMs", embedded, "2026"),
  },
  {
    name: "start-uncached",
    about: "the same without the compile cache, as at the first start",
    unit: "ms CPU",
    aim: null,
    run: compare("cpuMs", first),
  },
  {
    name: "start-bundle",
    about: `spawn to first tools/list of the extension's program, none of whose files is in the disk cache, against ${LOOP}, likewise`,
    unit: "ms",
    aim: AIM,
    run: (options) =>
      withPrograms(async (programs) => {
        const ours = programs.ours();
        const base = await programs.peer("loop", await listOf(ours));
        const cost = (command: Command) => async () => {
          dropFromDiskCache(programs.folder);
          return (await start(command, "2025")).wallMs;
        };
        return interleaved({ ours: cost(ours), base: cost(base) }, options);
      }),
  },
  {
    name: "start-package",
    about: "spawn to first tools/list of the package / of the sources",
    unit: "ms CPU",
    aim: 1.2,
    run: (options) =>
      withPrograms(async (programs) => {
        const cost = (command: Command) => async () => (await start(command, "2025")).cpuMs;
        return interleaved(
          { ours: cost(programs.ours()), base: cost(programs.sources()) },
          options,
        );
      }),
  },
];
