import { isDeepStrictEqual } from "node:util";
import {
  type Benchmark,
  interleaved,
  inTurn,
  type Options,
  type Samples,
  wallMs,
} from "../measure.ts";
import { type Era, greet, type Host, resultIn, startHost } from "./host.ts";
import { type Programs, withPrograms } from "./programs.ts";

type Request = { method: string; params?: Record<string, unknown> };
type Pair = { ours: Host; base: Host; request: Request };

// A single round trip is too short to measure by itself.
const BATCH = 20;

/** The ratio of one pair of processes differs from that of the next by up to a quarter. */
const PAIRS = 9;

const perRequest = async (host: Host, { method, params }: Request): Promise<number> =>
  (await wallMs(() => inTurn(BATCH, () => host.request(method, params)))) / BATCH;

const structured = async (host: Host, { method, params }: Request): Promise<unknown> => {
  const { structuredContent, tools } = resultIn(await host.request(method, params));
  return structuredContent ?? tools;
};

/** Round trips of two processes that are up and have answered the same before. */
const measure = async ({ ours, base, request }: Pair, options: Options): Promise<Samples> => {
  try {
    const said = await structured(ours, request);
    if (said === undefined || !isDeepStrictEqual(said, await structured(base, request))) {
      throw new Error("the two programs answer differently");
    }
    const sides = {
      ours: () => perRequest(ours, request),
      base: () => perRequest(base, request),
    };
    return await interleaved(sides, { ...options, warmUp: 5 });
  } finally {
    await Promise.all([ours.end(), base.end()]);
  }
};

const compare =
  (prepare: (programs: Programs) => Promise<Pair>) =>
  (options: Options): Promise<Samples> =>
    withPrograms(async (programs) => {
      const all: Samples = { ours: [], base: [] };
      for (let pair = 0; pair < PAIRS; pair += 1) {
        const { ours, base } = await measure(await prepare(programs), options);
        all.ours.push(...ours);
        all.base.push(...base);
      }
      return all;
    });

const LIST: Request = { method: "tools/list" };

const calling = (name: string, args: object): Request => ({
  method: "tools/call",
  params: { name, arguments: args },
});

const UNLIMITED = { RECEIVABLES_GATEWAY_RATE_MINUTE: "0", RECEIVABLES_TOOLS_RATE_MINUTE: "0" };

const started = async (programs: Programs, era: Era): Promise<Host> => {
  const host = startHost(programs.ours(UNLIMITED), era);
  await greet(host, era);
  return host;
};

const first = async (host: Host): Promise<Record<string, unknown>> => {
  const line = await host.request("tools/call", calling("disputes_list", { PageSize: 1 }).params);
  const { items } = resultIn(line)["structuredContent"] as { items: Record<string, unknown>[] };
  const [dispute] = items;
  if (dispute === undefined) throw new Error("the demo tenant has no dispute");
  return dispute;
};

const listing =
  (afterCall: boolean) =>
  async (programs: Programs): Promise<Pair> => {
    const ours = await started(programs, "2025");
    if (afterCall) await first(ours);
    const { tools } = resultIn(await ours.request(LIST.method));
    const base = startHost(await programs.peer("loop", tools));
    await greet(base);
    return { ours, base, request: LIST };
  };

const reading =
  (era: Era) =>
  async (programs: Programs): Promise<Pair> => {
    const ours = await started(programs, era);
    const { disputeId } = await first(ours);
    const request = calling("disputes_get", { disputeId });
    // The record says more than its line in the list.
    const base = startHost(await programs.peer("tool", await structured(ours, request)), era);
    await greet(base, era);
    return { ours, base, request };
  };

export const warmBenchmarks: readonly Benchmark[] = [
  {
    name: "list",
    about: "warm tools/list over stdio, against a hand-written JSON-RPC loop",
    unit: "ms",
    aim: 3,
    run: compare(listing(false)),
  },
  {
    name: "list-sdk",
    about: "the same after a tool was called, when the SDK answers",
    unit: "ms",
    aim: 3,
    run: compare(listing(true)),
  },
  ...(["2025", "2026"] as const).map((era) => ({
    name: `call-${era}`,
    about: `disputes_get on the embedded platform, against a tool that does nothing, era of ${era}`,
    unit: "ms",
    aim: 5,
    why: "the answer waits until the call's entry in the audit log is on disk, and the other tool writes nothing",
    run: compare(reading(era)),
  })),
];
