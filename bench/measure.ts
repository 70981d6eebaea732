/** Runs one repetition and returns its cost in the benchmark's unit. */
export type Side = () => number | Promise<number>;

/** The figures of both sides, repetition by repetition. */
export type Samples = { ours: number[]; base: number[] };

export type Options = {
  /** Repetitions of each side that count, where the benchmark has no reason for a number of its own. */
  runs: number;
};

export type Benchmark = {
  name: string;
  /** A short description of the comparison. */
  about: string;
  unit: string;
  /** Ours may be at most this many times the base; null: reported, not judged. */
  aim: number | null;
  /** Why the aim may be missed, where that is known. */
  why?: string;
  /** Benchmarks with the same word use the records that the first of them creates, so they run in one process. */
  shares?: string;
  run(options: Options): Promise<Samples>;
};

export type Line = {
  name: string;
  ours: number;
  base: number;
  ratio: number;
  aim: number | null;
  verdict: "ok" | "missed" | "reported";
  unit: string;
  runs: number;
  about: string;
};

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  if (low === undefined || high === undefined) throw new RangeError("no values");
  return (low + high) / 2;
};

/**
 * Repeats both sides in turn, so that other load on the machine affects both alike; the side that begins alternates
 * too. The first repetitions warm up and do not count.
 */
export const interleaved = async (
  sides: { ours: Side; base: Side },
  { runs, warmUp = 2 }: Options & { warmUp?: number },
): Promise<Samples> => {
  const samples: Samples = { ours: [], base: [] };
  for (let index = -warmUp; index < runs; index += 1) {
    const order = index % 2 === 0 ? (["base", "ours"] as const) : (["ours", "base"] as const);
    for (const name of order) {
      const cost = await sides[name]();
      if (index >= 0) samples[name].push(cost);
    }
  }
  return samples;
};

/** Returns the time of an action in milliseconds. */
export const wallMs = async (act: () => unknown): Promise<number> => {
  const began = performance.now();
  await act();
  return performance.now() - began;
};

/** Returns the CPU time of this process so far, in milliseconds. */
export const readCpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Returns the CPU time of this process for an action, in milliseconds. */
export const cpuMs = async (act: () => unknown): Promise<number> => {
  const began = readCpuMs();
  await act();
  return readCpuMs() - began;
};

type Act = (number: number) => Promise<unknown>;

/** Acts so many times, one after the other. */
export const inTurn = async (times: number, act: Act): Promise<void> => {
  for (let number = 0; number < times; number += 1) await act(number);
};

/** Acts so many times, one after the other. Returns the middle one of the times that this takes, in milliseconds. */
export const middleMs = async (times: number, act: Act): Promise<number> => {
  const taken: number[] = [];
  await inTurn(times, async (number) => taken.push(await wallMs(() => act(number))));
  return median(taken);
};

/** Has each of so many callers act so many times, one after the other. */
export const byCallers = (callers: number, timesEach: number, act: Act): Promise<unknown> =>
  Promise.all(
    Array.from({ length: callers }, (_, caller) =>
      inTurn(timesEach, (number) => act(caller * timesEach + number)),
    ),
  );

/** Limits the repetitions of a benchmark that takes long, and its repetitions that do not count. */
export const atMost = (most: number, { runs }: Options, warmUp = 1) => ({
  runs: Math.min(runs, most),
  warmUp,
});

export const verdictOf = (ratio: number, aim: number | null): Line["verdict"] => {
  if (aim === null) return "reported";
  return ratio <= aim ? "ok" : "missed";
};

export const lineOf = ({ name, unit, aim, about }: Benchmark, samples: Samples): Line => {
  const [ours, base] = [median(samples.ours), median(samples.base)];
  const ratio = ours / base;
  const runs = samples.ours.length;
  return { name, ours, base, ratio, aim, verdict: verdictOf(ratio, aim), unit, runs, about };
};

const closings: (() => Promise<void>)[] = [];

/** Closes what several benchmarks share after the last of them; a database server would keep the process alive. */
export const closeAtEnd = (close: () => Promise<void>): void => {
  closings.push(close);
};

export const closeShared = async (): Promise<void> => {
  await Promise.all(closings.splice(0).map((close) => close()));
};
