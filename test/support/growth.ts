/** Does work in proportion to a size, such as matching a text of that many characters. */
export type Work = (size: number) => void;

const SAMPLES = 3;
const ATTEMPTS = 3;

/** The processor time of this thread in microseconds: the load of the machine does not count. */
const costOf = (work: Work, size: number): number => {
  const before = process.threadCpuUsage();
  work(size);
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
};

const median = (values: number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

/** Some clocks advance in steps of 10 ms, so that a single short run costs nothing or a whole step. */
const RELIABLE = 30_000;

/** The cost of one run, as the mean of as many as the clock can measure. */
const meanCost = (work: Work, size: number): number => {
  let [sum, runs] = [0, 0];
  for (; sum < RELIABLE; runs += 1) sum += costOf(work, size);
  return sum / runs;
};

const medianCost = (work: Work, size: number): number =>
  median(Array.from({ length: SAMPLES }, () => meanCost(work, size)));

/** The least cost in microseconds that stands out from the noise of the clock. */
const MEASURABLE = 3000;

/** Whether the work takes long enough at this size to be measured. */
export const isMeasurable = (work: Work, size: number): boolean => {
  // A compilation or a garbage collection may delay one run, but not each.
  for (let run = 0; run < SAMPLES; run += 1) if (costOf(work, size) < MEASURABLE) return false;
  return true;
};

/** Linear work costs twice as much at twice the size, and some more for larger tables and garbage. */
export const MAX_GROWTH = 2.6;

/**
 * The factor by which the cost grows from this size to twice the size: the least of several attempts, since an
 * interruption only makes growth look worse.
 */
export const growthAt = (work: Work, size: number): number => {
  let least = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS && least > MAX_GROWTH; attempt += 1) {
    least = Math.min(least, medianCost(work, size * 2) / medianCost(work, size));
  }
  return least;
};

/** Work in proportion to a size that ends later, such as reading a stream of that many bytes. */
export type AsyncWork = (size: number) => Promise<unknown>;

const MAX_RUNS = 10;

const meanCostLater = async (work: AsyncWork, size: number): Promise<number> => {
  const before = process.threadCpuUsage();
  for (let runs = 1; ; runs += 1) {
    await work(size);
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= RELIABLE) return (user + system) / runs;
    if (runs === MAX_RUNS) return 0;
  }
};

const LEAST_SIZE = 2 ** 12;
const LARGEST_SIZE = 2 ** 20;
const FACTOR = 4;
/** A quadratic scanner takes 16 times as long for four times the size, a linear one 4 times. */
export const MAX_FOURFOLD_GROWTH = 9;

/**
 * The factor by which the cost grows when the size is doubled twice, from the least size that can be measured; 0 for
 * work that is too fast for that at a size of one MiB. The least of several attempts counts.
 */
export const fourfoldGrowth = async (work: AsyncWork): Promise<number> => {
  let size = LEAST_SIZE;
  while ((await meanCostLater(work, size)) === 0) {
    if (size === LARGEST_SIZE) return 0;
    size *= FACTOR;
  }
  let least = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS && least > MAX_FOURFOLD_GROWTH; attempt += 1) {
    const cost = (await meanCostLater(work, size)) || RELIABLE / MAX_RUNS;
    least = Math.min(least, (await meanCostLater(work, size * FACTOR)) / cost);
  }
  return least;
};
